// The time, injected: nothing that decides by time calls Date.now() itself, so that tests can.

/** Tells the time in milliseconds since the Unix epoch. */
export interface Clock {
  now(): number;
}

export const systemClock: Clock = { now: () => Date.now() };
