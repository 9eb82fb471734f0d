// Sliding-window limits. A slot is held while its request is under way; whether it stays used is the caller's rule
// (contract, section 2). When the shared store is away, each process limits by itself.
import { randomUUID } from 'node:crypto';
import type { Clock } from './clock.ts';
import { InProcessStore } from './ephemeral/in-process.ts';
import type { EphemeralStore } from './ephemeral/store.ts';
import { messageOf } from './errors.ts';
import type { Log } from './log.ts';
import type { Metrics } from './metrics.ts';

export interface RateLimit {
  /** Names the window in keys and metrics: `paste-create`. */
  name: string;
  /** Most requests in a window; 0 switches the limit off. */
  limit: number;
  windowMs: number;
}

export interface Reservation {
  granted: boolean;
  limit: number;
  remaining: number;
  /** When a slot frees, in milliseconds since the epoch. */
  resetAt: number;
  /** Whole seconds until then, at least 1. */
  retryAfterSeconds: number;
  /** Gives the slot back: the request turned out to be of the kind that uses none. */
  release(): Promise<void>;
}

export interface RateLimiter {
  /** Takes a slot of `subject` in the window, if one is free. Never rejects because the shared store is away. */
  reserve(limit: RateLimit, subject: string): Promise<Reservation>;
  close(): Promise<void>;
}

export interface RateLimiterParts {
  store: EphemeralStore;
  clock: Clock;
  log: Log;
  metrics: Metrics;
}

/** Makes the limiter of a process. */
export function createRateLimiter({ store, clock, log, metrics }: RateLimiterParts): RateLimiter {
  const ownWindows = store.kind === 'redis' ? new InProcessStore(clock) : undefined;
  let storeIsAway = false;

  function noteStore(away: boolean, error?: unknown): void {
    if (away === storeIsAway) return;
    storeIsAway = away;
    if (away)
      log.warn({ error: messageOf(error) }, 'Redis is away: this process limits by itself until it is back');
    else log.info('Redis is back: limits are shared again');
  }

  async function reserve(limit: RateLimit, subject: string): Promise<Reservation> {
    const now = clock.now();
    if (limit.limit === 0) return unlimited(now);
    const key = `window:{${limit.name}:${subject}}`;
    const member = randomUUID();
    const request = { key, limit: limit.limit, windowMs: limit.windowMs, now, member };
    let holder = store;
    let answer: Awaited<ReturnType<EphemeralStore['reserve']>>;
    try {
      answer = await store.reserve(request);
      if (ownWindows) noteStore(false);
    } catch (error) {
      if (!ownWindows) throw error;
      noteStore(true, error);
      metrics.redisFallbacks.inc();
      holder = ownWindows;
      answer = await ownWindows.reserve(request);
    }
    if (!answer.granted) metrics.rateLimited.inc({ limit: limit.name });
    const resetAt = answer.oldest + limit.windowMs;
    return {
      granted: answer.granted,
      limit: limit.limit,
      remaining: Math.max(0, limit.limit - answer.used),
      resetAt,
      retryAfterSeconds: Math.max(1, Math.ceil((resetAt - now) / 1000)),
      release: async () => {
        if (!answer.granted) return;
        // A slot that cannot be given back runs out by itself; the request it belongs to must not fail for it.
        await holder.release(key, member).catch((error: unknown) => noteStore(true, error));
      },
    };
  }

  return { reserve, close: async () => ownWindows?.close() };
}

function unlimited(now: number): Reservation {
  return {
    granted: true,
    limit: 0,
    remaining: 0,
    resetAt: now,
    retryAfterSeconds: 1,
    release: async () => {},
  };
}
