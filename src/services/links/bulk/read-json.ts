// The links of a JSON file, one after the other: an array, one object a line, or objects simply behind each other, as
// jq writes them. Never more than one of them is held.
import { ignoredOf, rowOfObject, type Values, valuesOf } from './columns.ts';
import { invalidInput } from './invalid-input.ts';
import type { SourceRow } from './source-row.ts';

/** A page of 10,000 links of Shlink's API fits. */
const MOST_VALUE_CHARACTERS = 16 * 1_048_576;

/**
 * Reads rows.
 *
 * @param onIgnored - told the members that mean nothing here, each once
 * @throws {Failure} INPUT_INVALID when one value is larger than 16 MiB
 */
export async function* readJson(
  input: AsyncIterable<Uint8Array>,
  onIgnored: (names: string[]) => void,
): AsyncGenerator<SourceRow[]> {
  const decoder = new TextDecoder('utf-8');
  const splitter = new Splitter();
  const known = new Set<string>();
  const tellNew = (values: Values) => {
    const names = values.filter(([name, value]) => !known.has(name) && value != null && value !== '');
    for (const [name] of names) known.add(name);
    if (names.length > 0) onIgnored(ignoredOf(names.map(([name]) => name)));
  };
  let row = 0;
  const rowsOf = (value: string) =>
    linksIn(value).map((link): SourceRow => {
      row++;
      if (link === undefined) return { row, fields: {}, unreadable: 'is not valid JSON' };
      if (!isObject(link)) return { row, fields: {}, unreadable: 'is no JSON object' };
      const values = valuesOf(link);
      tellNew(values);
      return { row, fields: rowOfObject(values) };
    });
  for await (const chunk of input) {
    const rows = splitter.split(decoder.decode(chunk, { stream: true })).flatMap(rowsOf);
    if (rows.length > 0) yield rows;
  }
  const rest = splitter.end();
  if (rest.value !== '') yield rowsOf(rest.value);
  if (rest.isOpen)
    yield [{ row: row + 1, fields: {}, unreadable: 'is missing: the file ends before its list does' }];
}

/**
 * What a value holds: itself, or the links of a page as the API of Shlink (`{shortUrls: {data: […]}}`) or that of Kutt
 * (`{data: […]}`) answers it.
 */
function linksIn(json: string): unknown[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return [undefined];
  }
  if (!isObject(value)) return [value];
  const page = isObject(value.shortUrls) ? value.shortUrls.data : value.data;
  return Array.isArray(page) ? page : [value];
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const [QUOTE, BACKSLASH, NEWLINE] = [34, 92, 10];
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, COMMA, COLON] = [123, 125, 91, 93, 44, 58];

/** Cuts text into the values at its top, whether an array is around them or nothing. */
class Splitter {
  #value = '';
  #depth = 0;
  #lists = 0;
  #inString = false;
  #escaped = false;
  /** The last character of the value that is not white space. */
  #last = 0;

  /** @returns the values that end in this text */
  split(text: string): string[] {
    const values: string[] = [];
    let start = 0;
    const cut = (end: number) => {
      const value = (this.#value + text.slice(start, end)).trim();
      if (value !== '') values.push(value);
      this.#value = '';
      this.#depth = 0;
      this.#inString = false;
      this.#last = 0;
      start = end;
    };
    for (let index = 0; index < text.length; index++) {
      const code = text.charCodeAt(index);
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false;
        else if (code === BACKSLASH) this.#escaped = true;
        else if (code === QUOTE) this.#inString = false;
        // No string goes on in the next line: this value is broken, the next one need not be.
        else if (code === NEWLINE) cut(index);
        continue;
      }
      if (code === 32 || (code >= 9 && code <= 13)) {
        if (this.#depth === 0) cut(index);
        continue;
      }
      if (code === QUOTE) this.#inString = true;
      else if (code === OPEN_BRACE || (code === OPEN_BRACKET && this.#depth > 0)) {
        // An object cannot begin here: the one before it was never ended.
        if (this.#depth > 0 && ![COMMA, COLON, OPEN_BRACKET].includes(this.#last)) cut(index);
        this.#depth++;
      } else if (this.#depth === 0 && [COMMA, OPEN_BRACKET, CLOSE_BRACKET].includes(code)) {
        cut(index);
        start = index + 1;
        if (code !== COMMA) this.#lists += code === OPEN_BRACKET ? 1 : -1;
        continue;
      } else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) {
        this.#depth--;
        if (this.#depth <= 0) {
          cut(index + 1);
          continue;
        }
      }
      this.#last = code;
    }
    this.#value += text.slice(start);
    if (this.#value.length > MOST_VALUE_CHARACTERS) {
      throw invalidInput(
        'a value of the JSON is larger than 16 MiB',
        'see whether its quotes and braces are closed',
      );
    }
    return values;
  }

  /** @returns what is left at the end of the file, and whether a list was not ended */
  end(): { value: string; isOpen: boolean } {
    return { value: this.#value.trim(), isOpen: this.#lists > 0 };
  }
}
