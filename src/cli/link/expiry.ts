// When a link expires, as people say it.
import { usage } from '../usage.ts';

const UNITS: ReadonlyArray<[words: RegExp, milliseconds: number]> = [
  [/^(?:s|secs?|seconds?)$/, 1_000],
  [/^(?:m|mins?|minutes?)$/, 60_000],
  [/^(?:h|hrs?|hours?)$/, 3_600_000],
  [/^(?:d|days?)$/, 86_400_000],
  [/^(?:w|wks?|weeks?)$/, 7 * 86_400_000],
  [/^(?:mo|months?)$/, 30 * 86_400_000],
  [/^(?:y|yrs?|years?)$/, 365 * 86_400_000],
];
const LAST_MOMENT = Date.UTC(9999, 11, 31);

/**
 * The moment that `90s`, `90m`, `24h`, `7d`, `2w`, `3mo` (30 days each), `1y`, the same in words (`in 3 days`, `an hour`,
 * `next week`), `tomorrow` (this time of day), `never`, a date (the end of that day, local time) or an ISO time with an
 * offset means.
 *
 * @returns ISO 8601 with an offset, or null for never
 * @throws {Failure} USAGE
 */
export function parseExpiry(text: string, nowMs: number): string | null {
  const word = text.trim().toLowerCase();
  if (word === 'never') return null;
  if (word === 'tomorrow') return new Date(nowMs + 86_400_000).toISOString();
  const durationMs = durationOf(word);
  if (durationMs !== undefined && nowMs + durationMs <= LAST_MOMENT) {
    return new Date(nowMs + durationMs).toISOString();
  }
  const day = /^(\d{4})-(\d{2})-(\d{2})(?=$|[t ])/.exec(word);
  if (day) {
    const [year, month, date] = [Number(day[1]), Number(day[2]), Number(day[3])];
    const end = new Date(year, month - 1, date, 23, 59, 59, 999);
    // The calendar would quietly turn the 30th of February into a day of March.
    if (end.getMonth() !== month - 1 || end.getDate() !== date) {
      throw usage(`${text} is no day`, 'it looks like 2027-01-31');
    }
    if (day[0] === word) return end.toISOString();
    if (/(z|[+-]\d{2}:?\d{2})$/.test(word) && !Number.isNaN(Date.parse(text))) {
      return new Date(text).toISOString();
    }
    throw usage(
      `${text} has no offset, or is no time`,
      'write 2027-01-31T12:00:00Z or 2027-01-31T12:00:00+01:00',
    );
  }
  throw usage(
    `${text} is no time to expire at`,
    'say 90m, 24h, 7d, 2w, 3mo, 1y, in 3 days, tomorrow, never, 2027-01-31 or 2027-01-31T12:00:00Z',
  );
}

function durationOf(words: string): number | undefined {
  const span =
    /^(?:in +)?(\d{1,9}|an?|one) *([a-z]+)$/.exec(words) ?? /^(next) +(week|month|year)$/.exec(words);
  const unitMs = UNITS.find(([names]) => names.test(span?.[2] ?? ''))?.[1];
  if (!span || unitMs === undefined) return undefined;
  const count = /^\d/.test(span[1] ?? '') ? Number(span[1]) : 1;
  return count * unitMs;
}
