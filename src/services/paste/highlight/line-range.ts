// Which lines a reader asked to see marked: `?lines=3-7`, or one line, `?lines=3`.

/** Line numbers from 1, both included, `from` not above `to`. */
export interface LineRange {
  from: number;
  to: number;
}

/**
 * Reads `3-7`, `7-3` or `3`, each with an optional `L` before the number, as a fragment has it.
 *
 * @returns undefined for anything else: a page is shown unmarked rather than refused
 */
export function parseLineRange(text: string | undefined): LineRange | undefined {
  const found = /^L?(\d{1,7})(?:-L?(\d{1,7}))?$/i.exec(text ?? '');
  if (!found?.[1]) return undefined;
  const first = Number(found[1]);
  const second = found[2] === undefined ? first : Number(found[2]);
  const from = Math.min(first, second);
  return from < 1 ? undefined : { from, to: Math.max(first, second) };
}
