// Many URLs, one a line.
import { createReadStream } from 'node:fs';
import { createInterface } from 'node:readline';
import { unreadable } from '../read-input.ts';
import type { Terminal } from '../terminal.ts';

export interface Line {
  /** From 1, as editors count. */
  number: number;
  url: string;
}

/**
 * Reads URLs from a file, or from stdin (`-`). Blank lines, and lines that begin with `#`, are skipped.
 *
 * @throws {Failure} INPUT_UNREADABLE (exit 2)
 */
export async function readUrls(terminal: Terminal, source: string): Promise<Line[]> {
  const lines: Line[] = [];
  const input = source === '-' ? terminal.stdin : createReadStream(source);
  let number = 0;
  try {
    for await (const line of createInterface({ input, crlfDelay: Number.POSITIVE_INFINITY })) {
      number++;
      const url = line.trim();
      if (url !== '' && !url.startsWith('#')) lines.push({ number, url });
    }
  } catch (error) {
    throw unreadable(source, error);
  }
  return lines;
}
