// Sizes, counts and times as people read them.

const number = new Intl.NumberFormat('en');
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto' });

/** 1,234,567 */
export function formatCount(count: number): string {
  return number.format(count);
}

/** 1 line, 2 lines; regular plurals only. */
export function formatQuantity(count: number, singular: string): string {
  return `${formatCount(count)} ${singular}${count === 1 ? '' : 's'}`;
}

/** 312 bytes, 1.5 KiB, 1 MiB */
export function formatBytes(bytes: number): string {
  if (bytes < 1024) return formatQuantity(bytes, 'byte');
  const [value, unit] = bytes < 1024 * 1023.95 ? [bytes / 1024, 'KiB'] : [bytes / 1024 ** 2, 'MiB'];
  return `${number.format(Number(value.toFixed(1)))} ${unit}`;
}

const units = [
  ['year', 365 * 86_400],
  ['month', 30 * 86_400],
  ['week', 7 * 86_400],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
] as const;

/** in 6 days, 2 hours ago, now: in the largest unit that fits at least once. */
export function formatRelative(time: Date, now: Date): string {
  const seconds = Math.round((time.getTime() - now.getTime()) / 1000);
  const [unit, size] = units.find(([, unitSeconds]) => Math.abs(seconds) >= unitSeconds) ?? ['second', 1];
  return relative.format(Math.round(seconds / size), unit);
}

/** 2026-11-27 22:03 UTC */
export function formatInstant(time: Date): string {
  return `${time.toISOString().slice(0, 16).replace('T', ' ')} UTC`;
}
