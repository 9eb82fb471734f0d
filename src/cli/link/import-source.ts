// The file that is imported: read twice, first for its hash and to see that it is text, then for its rows.
import { createHash, randomUUID } from 'node:crypto';
import { type FileHandle, open, unlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import { unreadable } from '../read-input.ts';
import type { Terminal } from '../terminal.ts';

export interface ImportSource extends AsyncDisposable {
  /** SHA-256, hexadecimal. */
  hash: string;
  read(): AsyncIterable<Uint8Array>;
}

const CHUNK_BYTES = 262_144;

/**
 * Opens a file, or stdin for `-`. What cannot be read twice (stdin, a named pipe) is kept in a temporary file that has
 * no name, so that nothing of it stays behind.
 *
 * @throws {Failure} INPUT_UNREADABLE, INPUT_INVALID (exit 2)
 */
export async function openImportSource(terminal: Terminal, file: string): Promise<ImportSource> {
  const handle = await openSeekable(terminal, file).catch((error: unknown) => {
    throw error instanceof Failure ? error : unreadable(file, error);
  });
  try {
    return {
      hash: await hashOf(handle, file),
      read: () => chunksOf(handle),
      [Symbol.asyncDispose]: () => handle.close(),
    };
  } catch (error) {
    await handle.close();
    throw error instanceof Failure ? error : unreadable(file, error);
  }
}

async function openSeekable(terminal: Terminal, file: string): Promise<FileHandle> {
  if (file === '-') return keep(terminal.stdin);
  const handle = await open(file);
  const status = await handle.stat();
  if (status.isFile() || status.isDirectory()) return handle;
  return keep(handle.createReadStream());
}

async function keep(stream: AsyncIterable<Buffer | string>): Promise<FileHandle> {
  const path = join(tmpdir(), `svc-import-${randomUUID()}`);
  const handle = await open(path, 'wx+', 0o600);
  await unlink(path);
  try {
    for await (const chunk of stream) await handle.writeFile(chunk);
    return handle;
  } catch (error) {
    await handle.close();
    throw error;
  }
}

async function hashOf(handle: FileHandle, file: string): Promise<string> {
  const hash = createHash('sha256');
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of chunksOf(handle)) {
      hash.update(chunk);
      decoder.decode(chunk, { stream: true });
    }
    decoder.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    // Better than links that were quietly changed.
    throw new Failure({
      code: 'INPUT_INVALID',
      message: `${file === '-' ? 'stdin' : file} is not UTF-8 text`,
      hint: 'convert it first, for example with iconv -f utf-16 -t utf-8',
      exit: EXIT.usage,
    });
  }
  return hash.digest('hex');
}

async function* chunksOf(handle: FileHandle): AsyncGenerator<Uint8Array> {
  for (let position = 0; ; ) {
    const { bytesRead, buffer } = await handle.read(
      Buffer.allocUnsafe(CHUNK_BYTES),
      0,
      CHUNK_BYTES,
      position,
    );
    if (bytesRead === 0) return;
    position += bytesRead;
    yield buffer.subarray(0, bytesRead);
  }
}
