// What is to be pasted, and passwords: read whole or refused, never silently cut.
import { open, readFile } from 'node:fs/promises';
import { codeOf, Failure, messageOf } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import { askPassword, type Terminal } from '../terminal.ts';
import { usage } from './server-address.ts';

// As the API has it (services/paste/create-paste.ts), without loading the service into the terminal.
const MAX_CONTENT_BYTES = 1_048_576;

/** Reads the content from a file, or from stdin where none (or `-`) is named. */
export async function readContent(terminal: Terminal, file: string | undefined): Promise<string> {
  const bytes =
    file === undefined || file === '-' ? await readStream(terminal.stdin) : await readUpToLimit(file);
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

export interface PasswordFlags {
  password?: boolean;
  passwordStdin?: boolean;
}

/** The password a command was given, if any. */
export async function readPassword(
  terminal: Terminal,
  { password, passwordStdin }: PasswordFlags,
  stdinIsContent: boolean,
): Promise<string | undefined> {
  if (passwordStdin) {
    if (stdinIsContent)
      throw usage(
        'stdin cannot be both the content and the password',
        'name a file to paste, or set PASTE_PASSWORD_FILE',
      );
    return withoutLineEnd((await readStream(terminal.stdin)).toString());
  }
  const { PASTE_PASSWORD, PASTE_PASSWORD_FILE } = terminal.env;
  if (PASTE_PASSWORD) return PASTE_PASSWORD;
  if (PASTE_PASSWORD_FILE) return withoutLineEnd((await readNamed(PASTE_PASSWORD_FILE)).toString());
  return password ? askPassword(terminal, 'Password', '--password-stdin or PASTE_PASSWORD_FILE') : undefined;
}

/** Reads a stream to its end, but not much beyond what a paste may hold. */
export async function readStream(stream: AsyncIterable<Buffer | string>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.byteLength;
    if (size > MAX_CONTENT_BYTES) break;
  }
  return Buffer.concat(chunks);
}

async function readUpToLimit(file: string): Promise<Buffer> {
  try {
    await using handle = await open(file);
    return await readStream(handle.createReadStream({ end: MAX_CONTENT_BYTES, autoClose: false }));
  } catch (error) {
    throw unreadable(file, error);
  }
}

async function readNamed(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw unreadable(file, error);
  }
}

function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}

function invalid(message: string, hint: string): Failure {
  return new Failure({ code: 'INPUT_INVALID', message, hint, exit: EXIT.usage });
}

function unreadable(file: string, error: unknown): Failure {
  return new Failure({
    code: 'INPUT_UNREADABLE',
    message: `${file} cannot be read: ${codeOf(error) === 'ENOENT' ? 'there is no such file' : messageOf(error)}`,
    hint: 'name a readable file, or - for stdin',
    exit: EXIT.usage,
    cause: error,
  });
}
