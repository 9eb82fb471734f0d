// Where an axis has its marks, and what they say.

const month = new Intl.DateTimeFormat('en', { month: 'short', timeZone: 'UTC' });
const compact = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 1 });

const MOST_STEPS = 4;

/** Round numbers from 0 to the first that is no less than `most`. */
export function roundMarks(most: number): number[] {
  const least = Math.max(1, most / MOST_STEPS);
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= least) ?? least;
  return Array.from({ length: Math.max(1, Math.ceil(most / step)) + 1 }, (_, index) => index * step);
}

/** 0, 500, 1.5K, 2M: short enough for the margin of a chart. */
export function formatMark(mark: number): string {
  return compact.format(mark);
}

export interface DayMark {
  /** Of the day in the timeline. */
  index: number;
  text: string;
  /** Left out where the chart is narrow: every second one, but not the last. */
  minor: boolean;
}

const MOST_DAY_MARKS = 7;
const DAY_STEPS = [1, 2, 7, 14];
const MOST_NAMED_DAYS = MOST_DAY_MARKS * 14;

/** Which days of a timeline are named below it: some, counted back from the last, or the firsts of the months. */
export function dayMarks(dates: readonly string[]): DayMark[] {
  const days = dates.map((date, index) => ({ date, index }));
  const byMonth = dates.length > MOST_NAMED_DAYS;
  const step = DAY_STEPS.find((size) => dates.length / size <= MOST_DAY_MARKS) ?? 1;
  const isNamed = ({ date, index }: { date: string; index: number }) =>
    byMonth ? date.endsWith('-01') : (dates.length - 1 - index) % step === 0;
  return days.filter(isNamed).map(({ date, index }, place, all) => ({
    index,
    text: byMonth ? month.format(new Date(date)) : formatDay(date),
    minor: (all.length - 1 - place) % 2 === 1,
  }));
}

/** 20 Nov */
export function formatDay(date: string): string {
  const day = new Date(date);
  return `${day.getUTCDate()} ${month.format(day)}`;
}

/** 20 Nov 2026 */
export function formatDate(date: string): string {
  return `${formatDay(date)} ${date.slice(0, 4)}`;
}
