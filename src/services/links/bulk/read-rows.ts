// The rows of a file, as they stream by: CSV or JSON, whichever it begins like.
import { readCsv } from './read-csv.ts';
import { readJson } from './read-json.ts';
import type { SourceRow } from './source-row.ts';

export interface ReadOptions {
  /** Told the columns, or members of objects, that mean nothing here: each once. */
  onIgnored?: ((names: string[]) => void) | undefined;
}

/** Bytes of a file that are looked at to see what it is. */
const BEGINNING_BYTES = 65_536;

/**
 * Reads rows, some at a time.
 *
 * @throws {Failure} INPUT_INVALID (exit 2) for a file without a column of destinations, or with a value too large to be
 *   part of one; what is wrong with a single row is said in that row
 */
export async function* readRows(
  input: AsyncIterable<Uint8Array>,
  { onIgnored = () => {} }: ReadOptions = {},
): AsyncGenerator<SourceRow[]> {
  const chunks = input[Symbol.asyncIterator]();
  const read: Uint8Array[] = [];
  let bytes = 0;
  while (bytes < BEGINNING_BYTES) {
    const { done, value } = await chunks.next();
    if (done) break;
    read.push(value);
    bytes += value.byteLength;
  }
  const beginning = Buffer.concat(read);
  async function* whole(): AsyncGenerator<Uint8Array> {
    yield beginning;
    yield* { [Symbol.asyncIterator]: () => chunks };
  }
  const text = beginning.toString('utf8').replace(/^\ufeff/, '');
  if (text.trim() === '') return;
  if (/^\s*[[{]/.test(text)) yield* readJson(whole(), onIgnored);
  else yield* readCsv(whole(), text, onIgnored);
}
