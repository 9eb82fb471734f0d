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
  /** Calls the handler for each message from now on; the answer ends the subscription. */
  subscribe(channel: string, handler: (message: string) => void): Promise<() => Promise<void>>;
  /** Whether the store answers now; in-process it always does. */
  ping(): Promise<boolean>;
  close(): Promise<void>;
}
