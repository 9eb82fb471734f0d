// What becomes of a delivery after an attempt (kanban-api.md, Limits; contract, section 5).
import type { DeliveryStatus } from '../../../../platform/database/kanban-tables.ts';

export interface ScheduleState {
  /** Retries that the schedule has begun. */
  step: number;
  firstAttemptAt: Date | null;
  /** Attempts so far, the one that just ended among them. */
  attemptCount: number;
}

export interface Verdict {
  status: DeliveryStatus;
  step: number;
  /** Of a pending one. */
  dueAt: Date | null;
}

/** How an attempt ended: an answer, or none. */
export interface AttemptOutcome {
  status?: number | undefined;
  error?: string | undefined;
  /** Of the answer, in milliseconds from now. */
  retryAfterMs?: number | undefined;
}

const RETRIED = new Set([408, 425, 429]);
const JITTER = 0.1;
const LEAST_WAIT_MS = 1_000;
// A receiver that keeps asking for another moment gets no more than these beside the schedule.
const MOST_ATTEMPTS = 100;

/**
 * Decides.
 *
 * @param scheduleMs - offsets from the first attempt, ascending
 * @param random - from 0 to 1: where in the jitter, which only ever adds
 */
export function judge(
  { status, retryAfterMs }: AttemptOutcome,
  { step, firstAttemptAt, attemptCount }: ScheduleState,
  { scheduleMs, nowMs, random }: { scheduleMs: readonly number[]; nowMs: number; random: number },
): Verdict {
  if (status !== undefined && status >= 200 && status < 300)
    return { status: 'delivered', step, dueAt: null };
  const isRetried = status === undefined || status >= 500 || RETRIED.has(status);
  if (!isRetried) return { status: 'failed', step, dueAt: null };
  const offset = scheduleMs[step];
  if (offset === undefined) return { status: 'dead', step, dueAt: null };
  const first = firstAttemptAt?.getTime() ?? nowMs;
  const planned = first + offset * (1 + JITTER * random);
  // Of what was missed, while nobody sent or the webhook was disabled, no step is spent in a row with the next.
  const gap = (offset - (scheduleMs[step - 1] ?? 0)) * (1 + JITTER * random);
  const next = first + offset > nowMs ? Math.max(planned, nowMs + LEAST_WAIT_MS) : nowMs + gap;
  const asked =
    retryAfterMs === undefined ? Number.POSITIVE_INFINITY : nowMs + Math.max(retryAfterMs, LEAST_WAIT_MS);
  // Sooner than the schedule, because the receiver says so: that takes none of its steps.
  if (asked < next && attemptCount < MOST_ATTEMPTS)
    return { status: 'pending', step, dueAt: new Date(asked) };
  return { status: 'pending', step: step + 1, dueAt: new Date(next) };
}

/** The wait that `Retry-After` asks for, in milliseconds: seconds or a date (RFC 9110, section 10.2.3). */
export function retryAfterMs(header: string | string[] | undefined, nowMs: number): number | undefined {
  const text = (Array.isArray(header) ? header[0] : header)?.trim();
  if (text === undefined || text === '') return undefined;
  if (/^\d{1,9}$/.test(text)) return Number(text) * 1000;
  const date = /^[A-Z][a-z]+, .+ GMT$/.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}
