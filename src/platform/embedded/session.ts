// One client of the front: its socket, what it asked for, and how long it may keep the backend.
import type { Socket } from 'node:net';
import { type Backend, ResponseTooLargeError } from './backend.ts';
import { forgottenStatementUnit, ProtocolViolation, RequestReader, type Unit } from './request-reader.ts';
import { readAnswer } from './response-reader.ts';
import { SessionStartup } from './session-startup.ts';
import type { Participant, Turns } from './turns.ts';
import { encodeBackendKey, encodeError, encodeReady } from './wire.ts';

/** What the sessions of one front share. */
export interface SessionContext {
  backend: Backend;
  turns: Turns;
  /** AuthenticationOk and the ParameterStatus messages, sent to each new session. */
  greeting: Buffer;
  silentTransactionTimeoutMs: number;
  startupTimeoutMs: number;
  requestLimitBytes: number;
  /** Why nothing may be written before a unit of that size, as `DiskSpace.shortage` says. */
  prepare(holdsAlready: boolean, sizeBytes: number): Promise<string | undefined>;
  onEnd(session: Session): void;
}

/** Reading from a client stops while this much of it waits for its turn. */
const QUEUED_LIMIT_BYTES = 1024 * 1024;
/** After its last message a client gets this long to read it, then its socket is destroyed. */
const FAREWELL_MS = 1000;

export class Session implements Participant {
  readonly #socket: Socket;
  readonly #context: SessionContext;
  readonly #id: number;
  readonly #reader: RequestReader;
  readonly #startup = new SessionStartup((bytes) => this.#socket.write(bytes));
  #stage: 'startup' | 'open' | 'ended' = 'startup';
  #units: Unit[] = [];
  #queuedBytes = 0;
  #keepsStatement = false;
  #timer: NodeJS.Timeout | undefined;
  /** The backend is in a transaction, or between messages, of this client. */
  #holds = false;

  constructor(socket: Socket, id: number, context: SessionContext) {
    this.#socket = socket;
    this.#id = id;
    this.#context = context;
    this.#reader = new RequestReader(context.requestLimitBytes);
    socket.on('data', (chunk) => this.#onData(chunk));
    socket.on('drain', () => context.turns.wake(this));
    socket.on('error', () => this.#finish());
    socket.on('end', () => this.#finish());
    socket.on('close', () => this.#finish());
    this.#timer = setTimeout(() => {
      this.end('08P01', 'the startup packet did not come in time');
    }, context.startupTimeoutMs);
  }

  get hasWork(): boolean {
    if (this.#stage === 'ended') return this.#holds;
    return this.#units.length > 0 && !this.#socket.writableNeedDrain;
  }

  /** In a transaction, or with requests that were not answered yet. */
  get busy(): boolean {
    return this.#holds || this.#units.length > 0 || this.#context.turns.holds(this);
  }

  /** Tells the client why, and ends its connection; what it left open is rolled back. */
  end(code: string, message: string, hint?: string): void {
    if (this.#stage === 'ended') return;
    this.#say(encodeError({ severity: 'FATAL', code, message, ...(hint === undefined ? {} : { hint }) }));
    this.#finish();
  }

  async runUnit(): Promise<'held' | 'free'> {
    clearTimeout(this.#timer);
    const unit = this.#stage === 'ended' ? undefined : this.#units.shift();
    if (!unit) {
      if (this.#holds) await this.#context.backend.reset();
      return this.#release();
    }
    this.#queuedBytes -= unit.bytes.length;
    if (this.#queuedBytes < QUEUED_LIMIT_BYTES) this.#socket.resume();
    try {
      const held = await this.#runAndAnswer(unit);
      return held ? 'held' : this.#release();
    } catch (error) {
      if (!(error instanceof ResponseTooLargeError)) throw error;
      this.end('54000', 'the result is too large for the embedded database', 'Read it in parts.');
      await this.#context.backend.reset();
      return this.#release();
    }
  }

  onSilent(): void {
    const { silentTransactionTimeoutMs } = this.#context;
    clearTimeout(this.#timer);
    // What has arrived meanwhile is read before the client is called silent: the thread may have been busy.
    const judge = () =>
      setImmediate(() => {
        const spokeMeanwhile = this.#timer !== timer;
        if (spokeMeanwhile || !this.#holds || this.hasWork) return;
        const seconds = silentTransactionTimeoutMs / 1000;
        this.end(
          '25P03',
          `terminating connection: the client was silent inside a transaction for ${seconds} s`,
          'The embedded database serves one transaction at a time; do nothing slow inside one.',
        );
      });
    const timer = setTimeout(judge, silentTransactionTimeoutMs);
    this.#timer = timer;
  }

  #release(): 'free' {
    this.#holds = false;
    this.#keepsStatement = false;
    return 'free';
  }

  async #runAndAnswer(unit: Unit): Promise<boolean> {
    const runnable = unit.usesEarlierStatement && !this.#keepsStatement ? forgottenStatementUnit(unit) : unit;
    const noSpace = await this.#context.prepare(this.#holds, unit.bytes.length);
    this.#holds = true;
    const response = await this.#context.backend.run(runnable.bytes);
    this.#keepsStatement ||= runnable.parses;
    const { parts, status } = readAnswer(response, { refusals: runnable.refusals, noSpace });
    // What waits in the socket counts as one write, so that a long answer costs one system call.
    this.#socket.cork();
    for (const part of parts) this.#say(part);
    this.#socket.uncork();
    this.#leaveIfTerminated();
    return status !== 'I';
  }

  #onData(chunk: Buffer): void {
    try {
      if (this.#stage === 'startup') this.#start(chunk);
      else if (this.#stage === 'open') this.#receive(chunk);
    } catch (error) {
      if (!(error instanceof ProtocolViolation)) throw error;
      this.end(error.code, error.message);
    }
  }

  #start(chunk: Buffer): void {
    const step = this.#startup.push(chunk);
    if (step.kind === 'wait') return;
    clearTimeout(this.#timer);
    this.#say(step.reply);
    if (step.kind === 'end') {
      this.#finish();
      return;
    }
    this.#stage = 'open';
    const secret = Math.trunc(Math.random() * 0xffffffff);
    this.#say(Buffer.concat([this.#context.greeting, encodeBackendKey(this.#id, secret), encodeReady('I')]));
    if (step.rest.length > 0) this.#receive(step.rest);
  }

  #receive(chunk: Buffer): void {
    const units = this.#reader.push(chunk);
    for (const unit of units) {
      this.#units.push(unit);
      this.#queuedBytes += unit.bytes.length;
    }
    if (this.#queuedBytes >= QUEUED_LIMIT_BYTES) this.#socket.pause();
    if (units.length > 0) this.#context.turns.wake(this);
    else this.#leaveIfTerminated();
  }

  #leaveIfTerminated(): void {
    if (this.#reader.terminated && this.#units.length === 0) this.#finish();
  }

  #say(bytes: Buffer): void {
    if (bytes.length > 0 && this.#socket.writable) this.#socket.write(bytes);
  }

  #finish(): void {
    if (this.#stage === 'ended') return;
    this.#stage = 'ended';
    clearTimeout(this.#timer);
    this.#units = [];
    this.#socket.resume();
    this.#socket.end();
    setTimeout(() => this.#socket.destroy(), FAREWELL_MS).unref();
    this.#context.turns.wake(this);
    this.#context.onEnd(this);
  }
}
