// Marks a range of lines in a finished rendering, so that asking for another range costs a copy and no rendering.
import type { LineRange } from './line-range.ts';
import type { Rendering } from './render.ts';

const encoder = new TextEncoder();
const open = encoder.encode('<mark class="range" id="marked">');
const close = encoder.encode('</mark>');

/** The bytes of a `page` rendering with the lines of the range inside a `<mark>`; unchanged where there are none. */
export function markLines(rendering: Rendering, { from, to }: LineRange): Uint8Array<ArrayBuffer> {
  const { bytes, lineCount, lineStarts } = rendering;
  const start = lineStarts[from - 1];
  const end = lineStarts[Math.min(to, lineCount)];
  if (from > lineCount || start === undefined || end === undefined) return bytes;

  const marked = new Uint8Array(bytes.length + open.length + close.length);
  marked.set(bytes.subarray(0, start), 0);
  marked.set(open, start);
  marked.set(bytes.subarray(start, end), start + open.length);
  marked.set(close, end + open.length);
  marked.set(bytes.subarray(end), end + open.length + close.length);
  return marked;
}
