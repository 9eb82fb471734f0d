// Files and pipes: read whole or refused, never silently cut.
import { readFile } from 'node:fs/promises';
import { codeOf, Failure, messageOf } from '../platform/errors.ts';
import { EXIT } from '../platform/exit-codes.ts';

/** More than any command takes; what is longer is refused by whoever knows the bound. */
const MOST_BYTES = 1_048_576;

/** Reads a stream to its end, but not much beyond `mostBytes`. */
export async function readStream(
  stream: AsyncIterable<Buffer | string>,
  mostBytes = MOST_BYTES,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of stream) {
    const bytes = Buffer.from(chunk);
    chunks.push(bytes);
    size += bytes.byteLength;
    if (size > mostBytes) break;
  }
  return Buffer.concat(chunks);
}

/** @throws {Failure} INPUT_UNREADABLE (exit 2) */
export async function readWholeFile(file: string): Promise<Buffer> {
  try {
    return await readFile(file);
  } catch (error) {
    throw unreadable(file, error);
  }
}

/** A failure for a file that cannot be read. */
export function unreadable(file: string, error: unknown): Failure {
  return new Failure({
    code: 'INPUT_UNREADABLE',
    message: `${file} cannot be read: ${codeOf(error) === 'ENOENT' ? 'there is no such file' : messageOf(error)}`,
    hint: 'name a readable file, or - for stdin',
    exit: EXIT.usage,
    cause: error,
  });
}
