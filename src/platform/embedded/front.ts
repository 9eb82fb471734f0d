// The PostgreSQL wire protocol on a unix socket, before the one backend that PGlite has.
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import type { Backend } from './backend.ts';
import type { DiskSpace } from './disk-space.ts';
import { DiskFullError, EmbeddedDatabaseError } from './errors.ts';
import { Session, type SessionContext } from './session.ts';
import { DATABASE_NAME, USER_NAME } from './session-startup.ts';
import { type Participant, Turns } from './turns.ts';
import { encodeError, encodeQuery, encodeStartup } from './wire.ts';

/** How a front is started; the bounds have defaults. */
export interface FrontOptions {
  backend: Backend;
  socketPath: string;
  diskSpace: DiskSpace;
  /** Called once when the backend died; all clients were told and dropped by then. */
  onDeath(error: Error): void;
  /** A client that is silent inside a transaction for this long is dropped. */
  silentTransactionTimeoutMs: number;
  startupTimeoutMs?: number;
  requestLimitBytes?: number;
  clientLimit?: number;
}

export interface Front {
  /** Clients connected now. */
  readonly clientCount: number;
  /** No unit runs or waits, no transaction is open. */
  readonly idle: boolean;
  /**
   * Runs a statement of our own when its turn comes.
   *
   * @returns everything the backend answered
   */
  runWhenFree(sql: string): Promise<Buffer>;
  /** Stops accepting; clients that are connected go on. */
  stopAccepting(): void;
  /** Resolves when no client is connected, or after the time. */
  untilDeserted(timeoutMs: number): Promise<void>;
  /** Stops accepting, lets transactions and waiting requests finish for at most that long, then drops all clients. */
  close(graceMs: number): Promise<void>;
}

const DEFAULT_STARTUP_TIMEOUT_MS = 10_000;
const DEFAULT_REQUEST_LIMIT_BYTES = 64 * 1024 * 1024;
const DEFAULT_CLIENT_LIMIT = 200;
const CLOSING_POLL_MS = 10;

/** Starts the front; resolves when clients can connect. */
export async function startFront(options: FrontOptions): Promise<Front> {
  const front = new SocketFront(options);
  await front.listen();
  return front;
}

class SocketFront implements Front {
  readonly #options: FrontOptions;
  readonly #server: Server;
  readonly #sessions = new Set<Session>();
  readonly #turns: Turns;
  #context: SessionContext | undefined;
  #refusesWrites = false;
  #nextId = 1;

  constructor(options: FrontOptions) {
    this.#options = options;
    this.#turns = new Turns((error) => this.#die(error));
    this.#server = createServer((socket) => this.#accept(socket));
  }

  get clientCount(): number {
    return this.#sessions.size;
  }

  get idle(): boolean {
    return this.#turns.idle;
  }

  async listen(): Promise<void> {
    const { backend, socketPath } = this.#options;
    this.#context = {
      backend,
      turns: this.#turns,
      greeting: await readGreeting(backend),
      silentTransactionTimeoutMs: this.#options.silentTransactionTimeoutMs,
      startupTimeoutMs: this.#options.startupTimeoutMs ?? DEFAULT_STARTUP_TIMEOUT_MS,
      requestLimitBytes: this.#options.requestLimitBytes ?? DEFAULT_REQUEST_LIMIT_BYTES,
      prepare: (holdsAlready, sizeBytes) => this.#prepare(holdsAlready, sizeBytes),
      onEnd: (session) => this.#sessions.delete(session),
    };
    // Whoever starts a front owns the data directory, so a socket file that is there belongs to nobody.
    rmSync(socketPath, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(socketPath, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
    chmodSync(socketPath, 0o600);
  }

  runWhenFree(sql: string): Promise<Buffer> {
    const { backend } = this.#options;
    return new Promise((resolve, reject) => {
      let waiting = true;
      const participant: Participant = {
        get hasWork() {
          return waiting;
        },
        async runUnit() {
          waiting = false;
          try {
            resolve(await backend.run(encodeQuery(sql)));
          } catch (error) {
            reject(error);
            throw error;
          }
          return 'free';
        },
      };
      this.#turns.wake(participant);
    });
  }

  stopAccepting(): void {
    this.#server.close();
  }

  async untilDeserted(timeoutMs: number): Promise<void> {
    await pollUntil(() => this.#sessions.size === 0, timeoutMs);
  }

  async close(graceMs: number): Promise<void> {
    this.stopAccepting();
    const dropIdle = () => {
      for (const session of this.#sessions) {
        if (!session.busy) session.end('57P01', 'terminating connection: the embedded database is closing');
      }
      return this.#sessions.size === 0 && this.#turns.idle;
    };
    await pollUntil(dropIdle, graceMs);
    for (const session of this.#sessions) {
      session.end('57P01', 'terminating connection: the embedded database is closing');
    }
    await pollUntil(() => this.#turns.idle, graceMs);
  }

  #accept(socket: Socket): void {
    const { clientLimit = DEFAULT_CLIENT_LIMIT } = this.#options;
    if (!this.#context) {
      socket.destroy();
      return;
    }
    if (this.#sessions.size >= clientLimit) {
      socket.on('error', () => socket.destroy());
      const message = `sorry, too many clients already (at most ${clientLimit})`;
      socket.end(encodeError({ severity: 'FATAL', code: '53300', message }));
      socket.destroySoon();
      return;
    }
    this.#sessions.add(new Session(socket, this.#nextId++, this.#context));
  }

  /** Between transactions: has the backend refuse writes while the disk is full, and take them again after that. */
  async #prepare(holdsAlready: boolean, sizeBytes: number): Promise<string | undefined> {
    const shortage = this.#options.diskSpace.shortage(sizeBytes);
    if (holdsAlready) return this.#refusesWrites ? shortage : undefined;
    if ((shortage !== undefined) !== this.#refusesWrites) {
      const setting = shortage === undefined ? 'off' : 'on';
      await this.#options.backend.run(encodeQuery(`SET default_transaction_read_only = ${setting}`));
      this.#refusesWrites = shortage !== undefined;
    }
    return shortage;
  }

  #die(error: Error): void {
    this.stopAccepting();
    const code = error instanceof DiskFullError ? '53100' : '57P02';
    const hint = error instanceof EmbeddedDatabaseError ? error.hint : undefined;
    for (const session of [...this.#sessions]) session.end(code, error.message, hint);
    this.#options.onDeath(error);
  }
}

/** AuthenticationOk and ParameterStatus messages, as the backend itself says them. */
async function readGreeting(backend: Backend): Promise<Buffer> {
  const response = await backend.run(encodeStartup({ user: USER_NAME, database: DATABASE_NAME }));
  const parts: Buffer[] = [];
  for (let start = 0; start + 5 <= response.length; ) {
    const end = start + 1 + response.readUInt32BE(start + 1);
    const type = String.fromCharCode(response[start] ?? 0);
    // Key and ReadyForQuery are written by each session.
    if (type === 'R' || type === 'S') parts.push(response.subarray(start, end));
    start = end;
  }
  return Buffer.concat(parts);
}

async function pollUntil(condition: () => boolean, timeoutMs: number): Promise<void> {
  const deadline = performance.now() + timeoutMs;
  while (!condition() && performance.now() < deadline) {
    await new Promise((resolve) => setTimeout(resolve, CLOSING_POLL_MS));
  }
}
