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
          // Never later than the schedule allows, jitter included; or than from one step to the next, where that was missed.
          const [offset = 0, before = 0] = [SCHEDULE[step], SCHEDULE[step - 1]];
          const missed = NOW + offset <= now;
          expect(due).toBeLessThanOrEqual(
            missed ? now + (offset - before) * 1.1 : Math.max(NOW + offset * 1.1, now + 1_000),
          );
          [now, step] = [due, verdict.step];
        }
        expect(now - NOW).toBeGreaterThanOrEqual(86_400_000);
        expect(now - NOW).toBeLessThanOrEqual(86_400_000 * 1.1);
        expect(attemptCount).toBeLessThanOrEqual(107);
      },
    ),
  );
});

test('what was missed is not made up for in a row', () => {
  const waits: number[] = [];
  // Nobody sent anything for two hours after the first attempt.
  let [nowMs, step] = [NOW + 7_200_000, 0];
  for (let attemptCount = 2; attemptCount <= 7; attemptCount++) {
    const state = { step, firstAttemptAt: new Date(NOW), attemptCount };
    const verdict = judge({ status: 500 }, state, { scheduleMs: SCHEDULE, nowMs, random: 0 });
    const due = verdict.dueAt?.getTime() ?? 0;
    waits.push((due - nowMs) / 1000);
    [nowMs, step] = [due, verdict.step];
  }
  // The gaps of the schedule until it has caught up with the time: six hours and a day after the first attempt.
  expect(waits.slice(0, 4)).toEqual([30, 90, 480, 3_000]);
  expect(waits.slice(4)).toEqual([21_600 - 7_200 - 3_600, 86_400 - 21_600]);
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
