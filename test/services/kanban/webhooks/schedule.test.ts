// What becomes of a delivery after an attempt.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { judge, retryAfterMs } from '../../../../src/services/kanban/webhooks/dispatch/schedule.ts';

const NOW = Date.parse('2026-01-31T12:00:00.000Z');
const SCHEDULE = [30, 120, 600, 3_600, 21_600, 86_400].map((seconds) => seconds * 1000);

test('whatever a receiver does, a delivery ends, no earlier than a day after it began unless it was taken', () => {
  fc.assert(
    fc.property(
      fc.infiniteStream(
        fc.record({
          status: fc.oneof(
            fc.constant(undefined),
            fc.integer({ min: 500, max: 599 }),
            fc.constantFrom(408, 425, 429),
          ),
          retryAfterMs: fc.option(fc.integer({ min: 0, max: 10 ** 9 }), { nil: undefined }),
          random: fc.double({ min: 0, max: 1, noNaN: true }),
        }),
      ),
      (outcomes) => {
        let [now, step, attemptCount] = [NOW, 0, 0];
        for (const { random, ...outcome } of outcomes) {
          attemptCount++;
          const state = { step, firstAttemptAt: new Date(NOW), attemptCount };
          const verdict = judge(outcome, state, { scheduleMs: SCHEDULE, nowMs: now, random });
          if (verdict.status === 'dead') break;
          expect(verdict.status).toBe('pending');
          const due = verdict.dueAt?.getTime() ?? 0;
          expect(due).toBeGreaterThan(now);
          // Never later than the schedule allows, jitter included.
          expect(due).toBeLessThanOrEqual(Math.max(NOW + (SCHEDULE[step] ?? 0) * 1.1, now + 1_000));
          [now, step] = [due, verdict.step];
        }
        expect(now - NOW).toBeGreaterThanOrEqual(86_400_000);
        expect(now - NOW).toBeLessThanOrEqual(86_400_000 * 1.1);
        expect(attemptCount).toBeLessThanOrEqual(107);
      },
    ),
  );
});

test.each([
  ['7', 7_000],
  ['Sat, 31 Jan 2026 12:01:00 GMT', 60_000],
  ['Sat, 31 Jan 2026 11:00:00 GMT', 0],
  ['soon', undefined],
  ['', undefined],
  ['-1', undefined],
  [undefined, undefined],
])('Retry-After: %s', (header, expected) => {
  expect(retryAfterMs(header, NOW)).toBe(expected);
});
