// Decoding and encoding of bodies. What is small is done on the spot; what could hold the event loop for more
// than a few milliseconds goes to a worker thread.
import { Piscina } from 'piscina';
import { siblingModule } from '../../platform/sibling-module.ts';
import { type Decoded, decodeForm, decodeJson } from './decode.ts';

// 64 KiB of JSON parse in well under a millisecond; 6 MiB of escapes take 40.
const INLINE_LIMIT_BYTES = 65_536;
const INLINE_TEXT_LENGTH = 32_768;

let pool: Piscina | undefined;
let users = 0;

function workers(): Piscina {
  pool ??= new Piscina({
    filename: siblingModule(import.meta.url, './json-worker').href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: 30_000,
    concurrentTasksPerWorker: 1,
  });
  return pool;
}

/**
 * Decodes a JSON body: bytes that are not UTF-8, not JSON, or hold a lone surrogate come back as a problem.
 *
 * @param fields - members that are wanted; a large body keeps no others, since bringing a million of them back from
 * the worker would hold the event loop that the worker is there to spare
 */
export async function decodeJsonBody(bytes: Uint8Array, fields: readonly string[]): Promise<Decoded> {
  return bytes.byteLength <= INLINE_LIMIT_BYTES ? decodeJson(bytes) : inWorker(bytes, 'json', fields);
}

/** Decodes an application/x-www-form-urlencoded body into an object of texts; the first of equal names wins. */
export async function decodeFormBody(bytes: Uint8Array): Promise<Decoded> {
  return bytes.byteLength <= INLINE_LIMIT_BYTES ? decodeForm(bytes) : inWorker(bytes, 'form');
}

/** Whether a reply holds a text so long that writing it as JSON belongs in a worker. */
export function isLargeReply(body: object): boolean {
  return Object.values(body).some((value) => typeof value === 'string' && value.length > INLINE_TEXT_LENGTH);
}

/** Writes a large reply as the bytes of its JSON, off the event loop. */
export async function encodeLargeJson(body: object): Promise<Uint8Array> {
  return workers().run(body, { name: 'encode' });
}

/** Says that an application uses the worker, which the applications of a process share; the answer gives it up. */
export function useJsonWorkers(): () => Promise<void> {
  users++;
  return async () => {
    users--;
    if (users > 0) return;
    const closing = pool;
    pool = undefined;
    await closing?.destroy();
  };
}

function inWorker(
  bytes: Uint8Array,
  name: 'json' | 'form',
  fields: readonly string[] = [],
): Promise<Decoded> {
  // Handing the memory over spares the event loop a copy of up to 6 MiB; a slice of shared memory has to be copied.
  const { buffer } = bytes;
  const isWhole = buffer instanceof ArrayBuffer && buffer.byteLength === bytes.byteLength;
  return workers().run({ bytes, fields }, { name, ...(isWhole && { transferList: [buffer] }) });
}
