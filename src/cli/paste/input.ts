// What is to be pasted.
import { open } from 'node:fs/promises';
import { Failure } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import { readStream, unreadable } from '../read-input.ts';
import type { Terminal } from '../terminal.ts';

// As the API has it (services/paste/create-paste.ts), without loading the service into the terminal.
const MAX_CONTENT_BYTES = 1_048_576;

/** Reads the content from a file, or from stdin where none (or `-`) is named. */
export async function readContent(terminal: Terminal, file: string | undefined): Promise<string> {
  const bytes =
    file === undefined || file === '-'
      ? await readStream(terminal.stdin, MAX_CONTENT_BYTES)
      : await readUpToLimit(file);
  if (bytes.byteLength > MAX_CONTENT_BYTES) {
    throw invalid('the input is larger than 1 MiB', 'a paste holds at most 1,048,576 bytes; split the input');
  }
  if (bytes.byteLength === 0) throw invalid('the input is empty', 'a paste has at least one character');
  let content: string;
  try {
    content = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw invalid('the input is not UTF-8 text', 'convert it first, for example with iconv or base64');
  }
  if (content.includes('\0'))
    throw invalid('the input contains NUL characters', 'a paste is text; try base64');
  return content;
}

async function readUpToLimit(file: string): Promise<Buffer> {
  try {
    await using handle = await open(file);
    return await readStream(
      handle.createReadStream({ end: MAX_CONTENT_BYTES, autoClose: false }),
      MAX_CONTENT_BYTES,
    );
  } catch (error) {
    throw unreadable(file, error);
  }
}

function invalid(message: string, hint: string): Failure {
  return new Failure({ code: 'INPUT_INVALID', message, hint, exit: EXIT.usage });
}
