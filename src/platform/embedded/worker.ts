// Worker thread that hosts PGlite and the front before it, so that the owner's event loop runs neither.
import { parentPort, workerData } from 'node:worker_threads';
import { DEFAULT_RESERVED_BYTES, DiskSpace } from './disk-space.ts';
import { explainFileError, type PortableError, toPortableError } from './errors.ts';
import type { Front } from './front.ts';
import { ensureDatabase, findTemplate } from './template.ts';
import { compilePglite } from './wasm.ts';

/** What the owner starts the worker with. */
export interface DatabaseWorkerData {
  dataDir: string;
  socketPath: string;
  silentTransactionTimeoutMs: number;
}

/** What the worker says to its owner. */
export type DatabaseWorkerReport =
  | { type: 'ready' }
  | { type: 'closed' }
  | { type: 'failed'; error: PortableError };

/** What the owner says to the worker. */
export interface DatabaseWorkerOrder {
  type: 'close';
  /** How long clients of other processes may go on before they are dropped. */
  lingerMs: number;
  /** How long transactions and requests under way may take to finish. */
  graceMs: number;
}

function report(message: DatabaseWorkerReport): void {
  parentPort?.postMessage(message);
}

async function start({ dataDir, socketPath, silentTransactionTimeoutMs }: DatabaseWorkerData): Promise<void> {
  // Beside everything else a start has to do.
  const compiling = compilePglite();
  const importing = Promise.all([import('./backend.ts'), import('./front.ts'), import('./upkeep.ts')]);
  // Their failures surface where they are awaited, after the files are in place.
  compiling.catch(() => {});
  importing.catch(() => {});
  const pgdata = await ensureDatabase(dataDir, findTemplate());
  const [{ openBackend }, { startFront }, { startUpkeep }] = await importing;
  const backend = await openBackend(pgdata, dataDir, await compiling);
  const front = await startFront({
    backend,
    socketPath,
    silentTransactionTimeoutMs,
    diskSpace: new DiskSpace(dataDir, DEFAULT_RESERVED_BYTES),
    onDeath: (error) => fail(error),
  });
  const stopUpkeep = startUpkeep(front);
  parentPort?.once('message', (order: DatabaseWorkerOrder) => {
    stopUpkeep();
    close(front, backend, order).then(() => report({ type: 'closed' }), fail);
  });
  report({ type: 'ready' });
}

async function close(
  front: Front,
  backend: { close(): Promise<void> },
  order: DatabaseWorkerOrder,
): Promise<void> {
  front.stopAccepting();
  if (order.lingerMs > 0) await front.untilDeserted(order.lingerMs);
  await front.close(order.graceMs);
  await backend.close();
}

function fail(error: unknown): void {
  const { dataDir }: DatabaseWorkerData = workerData;
  report({ type: 'failed', error: toPortableError(explainFileError(error, dataDir)) });
}

start(workerData).catch(fail);
