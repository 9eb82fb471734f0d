// What processes share for a while: rate windows, one-shot values, publications. Two implementations
// (redis.ts, in-process.ts) pass one suite of tests.

export interface WindowRequest {
  /** Whose window it is. */
  key: string;
  /** Most members that may lie in the window. */
  limit: number;
  windowMs: number;
  /** Time of the request, in milliseconds since the epoch. */
  now: number;
  /** Names this request, so that its slot can be given back. */
  member: string;
}

export interface WindowAnswer {
  granted: boolean;
  /** Members in the window after this request. */
  used: number;
  /** When the oldest of them entered, in milliseconds since the epoch; `now` when there is none. */
  oldest: number;
}

export interface JournalEntry {
  position: string;
  entry: string;
}

/** An ordered log that outlives the process which writes to it, until somebody has written it down elsewhere. */
export interface Journal {
  /** Adds an entry at the end. Answers false, and adds nothing, when the journal is full. */
  append(entry: string): Promise<boolean>;
  /** Entries after a position, oldest first; `0-0` is before the first. */
  readAfter(position: string, most: number): Promise<JournalEntry[]>;
  /** Forgets the entries up to a position, and that one. */
  forgetUpTo(position: string): Promise<void>;
}

export interface EphemeralStore {
  readonly kind: 'redis' | 'in-process';
  /** Takes a slot in a sliding window if one is free: atomic, in one round trip. */
  reserve(request: WindowRequest): Promise<WindowAnswer>;
  /** Gives a slot back. */
  release(key: string, member: string): Promise<void>;
  /** Stores a value that vanishes after `ttlMs`. */
  put(key: string, value: string, ttlMs: number): Promise<void>;
  get(key: string): Promise<string | undefined>;
  /** Reads and removes a value in one atomic step: of many who race for it, one gets it. */
  take(key: string): Promise<string | undefined>;
  /** Hands a message to every current subscriber of the channel, in every process. */
  publish(channel: string, message: string): Promise<void>;
  /**
   * Publishes, and resolves once every current subscriber has handled the message, or after half a second. Rejects when
   * nobody could be told: by then everybody has noticed, and `delivering` says so.
   */
  announce(channel: string, message: string): Promise<void>;
  /** Calls the handler for each message from now on; the answer ends the subscription. */
  subscribe(channel: string, handler: (message: string) => void): Promise<() => Promise<void>>;
  /** Whether messages arrive now; false while the connection they come over is lost, and some may be missed. */
  readonly delivering: boolean;
  /** How often, so far, messages may have been missed; who relies on having heard everything compares it. */
  readonly interruptions: number;
  /**
   * Calls the handler each time that messages arrive again after some may have been missed: what is asked for from then
   * on is told of whatever comes after it. The answer ends that.
   */
  onResumed(handler: () => void): () => void;
  /** A journal shared by all processes; none in-process, where nothing outlives the process. */
  journal(name: string): Journal | undefined;
  /** Whether the store answers now; in-process it always does. */
  ping(): Promise<boolean>;
  close(): Promise<void>;
}
