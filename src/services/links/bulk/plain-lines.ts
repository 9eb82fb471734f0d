// The lines of a CSV file up to its first quote, or all of them where a quote is a character like any other. Where nothing is quoted, a line is a record and its columns are what
// stands between the separators: seeing that takes a tenth of the time of a parser, and most files have no quotes.

const [QUOTE, NEWLINE] = [34, 10];
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

/** Without a line end in so many bytes the lines end in some other way. */
const MOST_LINE_BYTES = 65_536;

/** Takes bytes, gives lines, for as long as they are plain. */
export class PlainLines {
  readonly #quote: number | undefined;
  #rest: Buffer = Buffer.alloc(0);
  #isFirst = true;
  #isOver = false;

  constructor({ isQuoted }: { isQuoted: boolean }) {
    this.#quote = isQuoted ? QUOTE : undefined;
  }

  /** Whether what is left is for a parser. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** What no line was made of yet. */
  get rest(): Buffer {
    return this.#rest;
  }

  /** @returns the lines that are whole with these bytes; the first bytes hold all of a byte order mark */
  take(chunk: Uint8Array): string[] {
    let bytes = this.#rest.length === 0 ? Buffer.from(chunk) : Buffer.concat([this.#rest, chunk]);
    if (this.#isFirst && bytes.subarray(0, 3).equals(BYTE_ORDER_MARK)) bytes = bytes.subarray(3);
    this.#isFirst = false;
    const quote = this.#quote === undefined ? -1 : bytes.indexOf(this.#quote);
    const end = bytes.lastIndexOf(NEWLINE, quote < 0 ? undefined : quote) + 1;
    this.#rest = bytes.subarray(end);
    this.#isOver = quote >= 0 || this.#rest.length > MOST_LINE_BYTES;
    return end === 0 ? [] : linesOf(bytes.toString('utf8', 0, end - 1));
  }

  /** @returns the last lines, of a file that was plain to its end */
  end(): string[] {
    return this.#rest.length === 0 ? [] : linesOf(this.#rest.toString().replace(/\r$/, ''));
  }
}

function linesOf(text: string): string[] {
  // The line end of the last line is cut off but for a carriage return.
  return text.includes('\r') ? text.replace(/\r$/, '').split(/\r\n|\n|\r/) : text.split('\n');
}
