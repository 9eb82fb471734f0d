// The parts of the PostgreSQL wire protocol 3.0 that the front itself speaks.
// Source: https://www.postgresql.org/docs/current/protocol-message-formats.html

export const PROTOCOL_3 = 3;
export const CANCEL_REQUEST = 80877102;
export const SSL_REQUEST = 80877103;
export const GSS_ENCRYPTION_REQUEST = 80877104;

/** Length of type byte and length field, which stand before every message body. */
export const HEADER_BYTES = 5;

/** A first packet longer than this is no startup packet; PostgreSQL's own limit. */
export const STARTUP_LIMIT_BYTES = 10_000;

export type TransactionStatus = 'I' | 'T' | 'E';

/** Fields of an ErrorResponse, by their meaning. */
export interface ErrorFields {
  severity: 'ERROR' | 'FATAL';
  /** SQLSTATE. */
  code: string;
  message: string;
  hint?: string;
}

/** One message: type byte, length, body. */
export function encodeMessage(type: string, body: Buffer): Buffer {
  const message = Buffer.allocUnsafe(HEADER_BYTES + body.length);
  message.write(type, 0, 'latin1');
  message.writeUInt32BE(body.length + 4, 1);
  body.copy(message, HEADER_BYTES);
  return message;
}

function cString(text: string): Buffer {
  // NUL ends a string on the wire, so one inside would forge the next field.
  return Buffer.from(`${text.replaceAll('\0', '')}\0`);
}

/** An ErrorResponse. */
export function encodeError(fields: ErrorFields): Buffer {
  const parts = [
    `S${fields.severity}`,
    `V${fields.severity}`,
    `C${fields.code}`,
    `M${fields.message}`,
    ...(fields.hint === undefined ? [] : [`H${fields.hint}`]),
  ];
  return encodeMessage('E', Buffer.concat([...parts.map(cString), Buffer.from([0])]));
}

/** A simple Query. */
export function encodeQuery(sql: string): Buffer {
  return encodeMessage('Q', cString(sql));
}

/** A Parse of the unnamed statement, without parameter types. */
export function encodeParse(sql: string): Buffer {
  return encodeMessage('P', Buffer.concat([cString(''), cString(sql), Buffer.from([0, 0])]));
}

/** A Sync. */
export function encodeSync(): Buffer {
  return encodeMessage('S', Buffer.alloc(0));
}

/** The packet a client opens a session with. */
export function encodeStartup(parameters: Record<string, string>): Buffer {
  const pairs = Object.entries(parameters).flatMap(([name, value]) => [cString(name), cString(value)]);
  const body = Buffer.concat([Buffer.from([0, PROTOCOL_3, 0, 0]), ...pairs, Buffer.from([0])]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(body.length + 4);
  return Buffer.concat([length, body]);
}

/** BackendKeyData of a session. */
export function encodeBackendKey(processId: number, secret: number): Buffer {
  const body = Buffer.alloc(8);
  body.writeUInt32BE(processId >>> 0, 0);
  body.writeUInt32BE(secret >>> 0, 4);
  return encodeMessage('K', body);
}

/** ReadyForQuery. */
export function encodeReady(status: TransactionStatus): Buffer {
  return encodeMessage('Z', Buffer.from(status));
}

/** Answer to a client that asks for a newer minor version or protocol options: 3.0, and none of them. */
export function encodeNegotiateVersion(unknownOptions: string[]): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(unknownOptions.length, 4);
  return encodeMessage('v', Buffer.concat([head, ...unknownOptions.map(cString)]));
}

/** Name and value pairs of a startup packet body, read up to its end or the first empty name. */
export function readStartupParameters(body: Buffer): Map<string, string> {
  const texts = body.toString('utf8').split('\0');
  const parameters = new Map<string, string>();
  for (let index = 0; index + 1 < texts.length; index += 2) {
    const name = texts[index];
    if (!name) break;
    parameters.set(name, texts[index + 1] ?? '');
  }
  return parameters;
}

/** The NUL-terminated text at `offset` of a body; to its end where the NUL is missing. */
export function readCString(body: Buffer, offset: number): string {
  const end = body.indexOf(0, offset);
  return body.toString('utf8', offset, end < 0 ? body.length : end);
}

/** The fields of an ErrorResponse body, by their one-letter type. */
export function readErrorFields(body: Buffer): Map<string, string> {
  const fields = new Map<string, string>();
  for (const part of body.toString('utf8').split('\0')) {
    if (part.length > 0) fields.set(part.slice(0, 1), part.slice(1));
  }
  return fields;
}
