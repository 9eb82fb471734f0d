// Building blocks of request and reply schemas that every service uses.
import { z } from 'zod';

/** Text without NUL (PostgreSQL cannot hold it), its length counted in Unicode code points. */
export function text({ least, most }: { least: number; most: number }) {
  return z
    .string({ error: 'must be a text' })
    .refine((value) => !value.includes('\0'), 'must not contain NUL characters')
    .refine((value) => isLengthWithin(value, least, most), `must be ${least} to ${most} characters long`)
    .meta({ minLength: least, maxLength: most });
}

/** Moment of a reply: `2026-01-31T12:00:00.000Z`. */
export const timestamp = z.iso.datetime().meta({ examples: ['2026-01-31T12:00:00.000Z'] });

/** The timestamp of a moment, in the one form that all replies use. */
export function toTimestamp(moment: Date): string {
  return moment.toISOString();
}

function isLengthWithin(value: string, least: number, most: number): boolean {
  // A code point takes at most two UTF-16 units: most texts are decided without counting.
  if (value.length < least || value.length > most * 2) return false;
  let length = 0;
  for (const _ of value) length++;
  return length >= least && length <= most;
}
