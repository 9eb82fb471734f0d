// The first packets of a connection: encryption asked for and declined, cancel requests, and the session's terms.
import {
  CANCEL_REQUEST,
  encodeError,
  encodeNegotiateVersion,
  GSS_ENCRYPTION_REQUEST,
  PROTOCOL_3,
  readStartupParameters,
  SSL_REQUEST,
  STARTUP_LIMIT_BYTES,
} from './wire.ts';

export const DATABASE_NAME = 'postgres';
export const USER_NAME = 'postgres';

/** What to do after some bytes of a connection that has not begun its session. */
export type StartupStep =
  | { kind: 'wait' }
  | { kind: 'begin'; reply: Buffer; rest: Buffer }
  /** Send the reply and end the connection. */
  | { kind: 'end'; reply: Buffer };

const EMPTY = Buffer.alloc(0);

/** Settings of a session that may be asked for, since asking changes nothing a client could notice. */
const HARMLESS_PARAMETERS: Record<string, RegExp> = {
  user: /./,
  database: /./,
  application_name: /^/,
  fallback_application_name: /^/,
  replication: /^(false|off|no|0)$/,
  client_encoding: /^'?utf-?8'?$/i,
  datestyle: /^iso/i,
  timezone: /^(utc|etc\/utc|gmt)$/i,
  // The front bounds transactions itself; a statement on the one backend cannot be interrupted.
  statement_timeout: /^/,
  lock_timeout: /^/,
  idle_in_transaction_session_timeout: /^/,
  options: /^$/,
};

function fatal(code: string, message: string, hint?: string): StartupStep {
  const fields = { severity: 'FATAL' as const, code, message, ...(hint === undefined ? {} : { hint }) };
  return { kind: 'end', reply: encodeError(fields) };
}

/** Collects the first packets. */
export class SessionStartup {
  #pending: Buffer = EMPTY;
  readonly #send: (bytes: Buffer) => void;

  /** @param send writes an answer that does not end the startup */
  constructor(send: (bytes: Buffer) => void) {
    this.#send = send;
  }

  /** Takes the next bytes. */
  push(chunk: Buffer): StartupStep {
    this.#pending = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    while (this.#pending.length >= 4) {
      const length = this.#pending.readUInt32BE(0);
      if (length < 8 || length > STARTUP_LIMIT_BYTES)
        return fatal('08P01', 'invalid length of startup packet');
      if (this.#pending.length < length) break;
      const packet = this.#pending.subarray(4, length);
      this.#pending = this.#pending.subarray(length);
      const code = packet.readUInt32BE(0);
      if (code === CANCEL_REQUEST) return { kind: 'end', reply: EMPTY };
      if (code !== SSL_REQUEST && code !== GSS_ENCRYPTION_REQUEST) return this.#begin(packet);
      this.#send(Buffer.from('N'));
    }
    return { kind: 'wait' };
  }

  #begin(packet: Buffer): StartupStep {
    const major = packet.readUInt16BE(0);
    const minor = packet.readUInt16BE(2);
    if (major !== PROTOCOL_3) return fatal('0A000', `unsupported frontend protocol ${major}.${minor}`);
    const parameters = readStartupParameters(packet.subarray(4));
    const user = parameters.get('user');
    const database = parameters.get('database') ?? user;
    if (user !== USER_NAME) return fatal('28000', `role "${user ?? ''}" does not exist`);
    if (database !== DATABASE_NAME) return fatal('3D000', `database "${database ?? ''}" does not exist`);
    const protocolOptions = [...parameters.keys()].filter((name) => name.startsWith('_pq_.'));
    for (const [name, value] of parameters) {
      if (name.startsWith('_pq_.') || HARMLESS_PARAMETERS[name.toLowerCase()]?.test(value)) continue;
      const hint = 'Its clients share one session, whose settings cannot differ.';
      return fatal('0A000', `parameter "${name}" cannot be set to "${value}" on the embedded database`, hint);
    }
    const negotiate = minor > 0 || protocolOptions.length > 0;
    const reply = negotiate ? encodeNegotiateVersion(protocolOptions) : EMPTY;
    return { kind: 'begin', reply, rest: this.#pending };
  }
}
