// PGlite as the front uses it: bytes of the wire protocol in, bytes out, and a clear end when it dies.
import { PGlite } from '@electric-sql/pglite';
import { DurableNodeFS, durableStartParams } from './durable-files.ts';
import { corrupt, diskFull, otherVersion, workerDied } from './errors.ts';
import { encodeParse, encodeQuery, encodeSync } from './wire.ts';

/** The one PostgreSQL backend that all clients share. */
export interface Backend {
  /**
   * Runs whole messages and returns everything the backend answered.
   *
   * @throws ResponseTooLargeError where the answer passes the limit; the backend lives on
   * @throws EmbeddedDatabaseError where the backend died; it can only be closed then
   */
  run(request: Buffer): Promise<Buffer>;
  /** Rolls back whatever is open and leaves the backend as a new client expects it. */
  reset(): Promise<void>;
  /** Writes everything to the files and ends; does nothing when the backend is dead. */
  close(): Promise<void>;
}

/** The answer to a unit does not fit into memory we are willing to give. */
export class ResponseTooLargeError extends Error {}

const RESPONSE_LIMIT_BYTES = 256 * 1024 * 1024;
/** Status with which PGlite leaves its main loop for an ordinary SQL error (pglitec.c, POSTGRES_MAIN_LONGJMP). */
const ORDINARY_ERROR_STATUS = 100;
const KEPT_LOG_LINES = 20;

/** PGlite without the query that learns array types: only its own parsers need them, and it delays the start. */
class BarePGlite extends PGlite {
  override async _initArrayTypes(): Promise<void> {}
}

/**
 * Opens PGlite on a prepared data directory.
 *
 * @param pgdata directory with PG_VERSION in it
 * @param dataDir what error messages call it
 * @param wasmModule PGlite's WebAssembly, compiled
 */
export async function openBackend(
  pgdata: string,
  dataDir: string,
  wasmModule: WebAssembly.Module,
): Promise<Backend> {
  const log: string[] = [];
  const keepLine = (line: string) => {
    log.push(line);
    if (log.length > KEPT_LOG_LINES) log.shift();
    return false;
  };
  const database = new BarePGlite({
    fs: new DurableNodeFS(pgdata),
    startParams: durableStartParams,
    pgliteWasmModule: wasmModule,
    onStderr: keepLine,
  });
  try {
    await database.waitReady;
  } catch (error) {
    throw explainStart(error, log, dataDir);
  }
  return backendOf(database, log, dataDir);
}

function backendOf(database: BarePGlite, log: string[], dataDir: string): Backend {
  const death = watchForDeath(database, log, dataDir);
  const run = async (request: Buffer): Promise<Buffer> => {
    if (death.cause()) throw death.cause();
    const chunks: Buffer[] = [];
    let size = 0;
    const onRawData = (bytes: Uint8Array) => {
      size += bytes.length;
      // A view of the backend's memory, valid during this call only.
      if (size <= RESPONSE_LIMIT_BYTES) chunks.push(Buffer.from(bytes));
    };
    try {
      await database.execProtocolRawStream(request, { syncToFs: false, onRawData });
    } catch (error) {
      throw death.cause() ?? workerDied(messageOf(error), { cause: error });
    }
    if (size > RESPONSE_LIMIT_BYTES) throw new ResponseTooLargeError();
    const [first] = chunks;
    return first && chunks.length === 1 ? first : Buffer.concat(chunks);
  };
  return {
    run,
    async reset() {
      // The failing statement aborts what an unfinished extended query began (a Sync would commit it),
      // and Sync ends the skipping of messages that an error in one leaves behind.
      await run(encodeQuery('svc_abort'));
      await run(Buffer.concat([encodeParse('svc_abort'), encodeSync()]));
      await run(encodeQuery('ROLLBACK'));
    },
    async close() {
      if (!death.cause()) await database.close();
    },
  };
}

/**
 * PGlite swallows every exception of the main loop and tries again, for ever when the WebAssembly is dead (a PANIC
 * on a full disk, an abort, a trap). This lets ordinary SQL errors pass and breaks out of the loop on all others.
 */
function watchForDeath(database: BarePGlite, log: string[], dataDir: string): { cause(): Error | undefined } {
  const { Module: module } = database;
  let cause: Error | undefined;
  const mainLoopOnce = module._PostgresMainLoopOnce;
  module._PostgresMainLoopOnce = () => {
    try {
      mainLoopOnce();
    } catch (error) {
      if (statusOf(error) !== ORDINARY_ERROR_STATUS) cause ??= explainDeath(error, log, dataDir);
      throw error;
    }
  };
  // Called in PGlite's catch block, from where an exception gets out.
  const stackRestore = module.stackRestore;
  module.stackRestore = (pointer) => {
    if (cause) throw cause;
    return stackRestore(pointer);
  };
  // Called in its finally block, where a dead module must not be entered again.
  const sendReady = module._PostgresSendReadyForQueryIfNecessary;
  module._PostgresSendReadyForQueryIfNecessary = () => {
    if (!cause) sendReady();
  };
  const flush = module._pgl_pq_flush;
  module._pgl_pq_flush = () => {
    if (!cause) flush();
  };
  return { cause: () => cause };
}

function statusOf(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'status' in error ? error.status : undefined;
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The last line PostgreSQL logged at FATAL or PANIC, with its DETAIL. */
function lastWords(log: string[]): string | undefined {
  const index = log.findLastIndex((line) => /(?:FATAL|PANIC): /.test(line));
  if (index < 0) return undefined;
  const words = log[index]?.replace(/^.*?(?:FATAL|PANIC):\s*/, '');
  const detail = log.slice(index).find((line) => /DETAIL: /.test(line));
  return detail === undefined ? words : `${words}; ${detail.replace(/^.*?DETAIL:\s*/, '')}`;
}

function explainDeath(error: unknown, log: string[], dataDir: string): Error {
  const words = lastWords(log) ?? messageOf(error);
  if (/No space left|Disk quota/.test(words)) return diskFull(dataDir, words, { cause: error });
  return workerDied(words, { cause: error });
}

function explainStart(error: unknown, log: string[], dataDir: string): Error {
  const words = lastWords(log) ?? messageOf(error);
  if (/No space left|Disk quota/.test(words)) return diskFull(dataDir, words, { cause: error });
  if (/incompatible with server|initialized by PostgreSQL version/.test(words)) {
    return otherVersion(dataDir, words);
  }
  return corrupt(dataDir, words);
}
