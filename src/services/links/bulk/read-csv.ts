// The rows of a CSV file, whatever separates its columns and however its lines end. Files with tabs are as `mysql
// --batch` and PostgreSQL's COPY write them: nothing is quoted, and backslashes stand before what would end a value.
import { finished } from 'node:stream/promises';
import { type CsvError, parse } from 'csv-parse';
import { parse as parseNow } from 'csv-parse/sync';
import { type BulkField, type BulkRow, columnsOf, ignoredOf } from './columns.ts';
import { invalidInput } from './invalid-input.ts';
import { PlainLines } from './plain-lines.ts';
import type { SourceRow } from './source-row.ts';

const DELIMITERS = [',', ';', '\t'];
const LINE_ENDS = ['\r\n', '\n', '\r'];
const URL_BEGINNING = /^"*https?:\/\//i;

/** Larger than any link with any title; a quote that is never closed must not take the memory of the whole file. */
const MOST_RECORD_BYTES = 1_048_576;

/**
 * Reads rows.
 *
 * @param beginning - text that the input begins with, its first line among it
 * @param onIgnored - told the columns that mean nothing here
 * @throws {Failure} INPUT_INVALID when the first line names no column of destinations
 */
export async function* readCsv(
  input: AsyncIterable<Uint8Array>,
  beginning: string,
  onIgnored: (names: string[]) => void,
): AsyncGenerator<SourceRow[]> {
  const layout = recognise(beginning);
  onIgnored(ignoredOf(layout.headers));
  const records = new Records(layout);
  const plain = new PlainLines(layout);
  let parser: RecordParser | undefined;
  for await (const chunk of input) {
    if (parser) await parser.write(chunk);
    else {
      for (const line of plain.take(chunk)) records.add(line.split(layout.delimiter));
      if (plain.isOver) {
        parser = parserOf(layout, records);
        await parser.write(plain.rest);
      }
    }
    if (records.isReady) yield records.take();
  }
  if (parser) await parser.end();
  else for (const line of plain.end()) records.add(line.split(layout.delimiter));
  if (records.isReady) yield records.take();
}

interface Layout {
  delimiter: string;
  /** Whether quotes go around values; otherwise backslashes go before what would end one. */
  isQuoted: boolean;
  headers: string[];
  columns: Map<BulkField, number>;
}

/** The records of a file in their order, the first that is not blank being the header. */
class Records {
  readonly #layout: Layout;
  #ready: SourceRow[] = [];
  #row = 0;
  #inHeader = true;

  constructor(layout: Layout) {
    this.#layout = layout;
  }

  get isReady(): boolean {
    return this.#ready.length > 0;
  }

  take(): SourceRow[] {
    const rows = this.#ready;
    this.#ready = [];
    return rows;
  }

  add(record: readonly string[]): void {
    this.#row++;
    const isBlank = record.length === 1 && record[0] === '';
    if (isBlank || this.#inHeader) this.#inHeader &&= isBlank;
    else this.#ready.push(this.#sourceRow(record));
  }

  /** A record of which values may go over several lines. */
  addQuoted(record: readonly string[]): void {
    this.add(record);
    const lines = linesTakenIn(record, this.#layout);
    const added = this.#ready.at(-1);
    if (lines === 0 || added?.row !== this.#row) return;
    const whose = lines === 1 ? 'the line behind it was' : `the ${lines} lines behind it were`;
    added.unreadable = `has a quote that is not closed: ${whose} read as part of it`;
  }

  addUnreadable(reason: string): void {
    this.#row++;
    this.#ready.push({ row: this.#row, fields: {}, unreadable: reason });
  }

  #sourceRow(record: readonly string[]): SourceRow {
    const { columns, headers, isQuoted } = this.#layout;
    const width = headers.length;
    const row = this.#row;
    const fields: BulkRow = {};
    for (const [field, index] of columns) {
      const value = isQuoted ? record[index] : unescaped(record[index], field);
      if (value !== undefined && value !== '') fields[field] = value;
    }
    if (record.length === width) return { row, fields };
    // A separator too many moves every value behind it into the wrong column.
    return { row, fields, unreadable: `has ${record.length} columns, the header has ${width}` };
  }
}

interface RecordParser {
  write(chunk: Uint8Array): Promise<void>;
  end(): Promise<void>;
}

function parserOf({ delimiter, isQuoted }: Layout, records: Records): RecordParser {
  // Records are taken from the parser's own callbacks: good and bad ones in their order, and without a stream of
  // objects, which costs more than the parsing.
  const parser = parse({
    delimiter,
    record_delimiter: LINE_ENDS,
    relax_column_count: true,
    quote: isQuoted ? '"' : null,
    // Titles with quotes in them.
    relax_quotes: true,
    max_record_size: MOST_RECORD_BYTES,
    skip_records_with_error: true,
    on_record: (record: string[]) => {
      records.addQuoted(record);
      return null;
    },
    on_skip: (error) => {
      records.addUnreadable(reasonOf(error));
      return undefined;
    },
  });
  parser.resume();
  const ended = finished(parser);
  // Whoever writes a chunk gets the error there.
  ended.catch(() => {});
  return {
    write: (chunk) =>
      new Promise((resolve, reject) => {
        parser.write(chunk, (error) => (error ? reject(error) : resolve()));
      }),
    end: () => {
      parser.end();
      return ended;
    },
  };
}

/** What separates the columns: that under which most of them are known. */
function recognise(beginning: string): Layout {
  const header = beginning.split(/[\r\n]+/).find((line) => line !== '') ?? '';
  const [best] = DELIMITERS.map((delimiter) => {
    const headers = headersOf(header, delimiter);
    // Where tabs separate and quotes go around values all the same, they go around the names of the columns too.
    const isQuoted = delimiter !== '\t' || header.startsWith('"');
    return { delimiter, isQuoted, headers, columns: columnsOf(headers) };
  }).sort((a, b) => b.columns.size - a.columns.size || b.headers.length - a.headers.length);
  if (best?.columns.has('originalUrl')) return best;
  throw invalidInput(
    `no column holds destinations: the first line is ${JSON.stringify(header.slice(0, 200))}`,
    'the first line names the columns, one of them originalUrl, url, longUrl or "Long URL"',
  );
}

function headersOf(header: string, delimiter: string): string[] {
  try {
    return (parseNow(header, { delimiter, relax_quotes: true }) as string[][])[0] ?? [];
  } catch {
    return [];
  }
}

const ESCAPES: Record<string, string> = { t: '\t', n: '\n', r: '\r', '0': '\0', '\\': '\\' };

/** A value without its backslashes; nothing for what the two write when there is none. */
function unescaped(value: string | undefined, field: BulkField): string | undefined {
  if (value === '\\N' || (value === 'NULL' && field !== 'shortCode')) return undefined;
  if (!value?.includes('\\')) return value;
  return value.replaceAll(/\\([tnr0\\])/g, (_, character: string) => ESCAPES[character] ?? '');
}

/** How many lines a value took in because it begins with a quote that nobody closed: some of them look like rows. */
function linesTakenIn(record: readonly string[], { delimiter, columns }: Layout): number {
  const destination = columns.get('originalUrl') ?? 0;
  const isRow = (line: string, firstColumn: number) => {
    const place = destination - firstColumn;
    return place >= 0 && line.includes(delimiter) && URL_BEGINNING.test(line.split(delimiter)[place] ?? '');
  };
  for (const [column, value] of record.entries()) {
    if (!/[\r\n]/.test(value)) continue;
    const [first = '', ...others] = value.split(/\r\n|\n|\r/);
    // Of the row that the value begins in, only a destination behind the value tells.
    const isOwnRow = column < destination && isRow(first, column);
    if (isOwnRow || others.some((line) => isRow(line, 0))) return others.length;
  }
  return 0;
}

function reasonOf(error: CsvError | undefined): string {
  if (error?.code === 'CSV_QUOTE_NOT_CLOSED') return 'begins with a quote that is never closed';
  if (error?.code === 'CSV_MAX_RECORD_SIZE') return 'is longer than 1 MiB: a quote before it is not closed';
  return 'cannot be read as CSV';
}
