// The owner's side of the worker thread: starts it, waits until clients can connect, closes it, notices its death.
import { Worker } from 'node:worker_threads';
import { siblingModule } from '../sibling-module.ts';
import { fromPortableError, workerDied } from './errors.ts';
import type { DatabaseWorkerData, DatabaseWorkerOrder, DatabaseWorkerReport } from './worker.ts';

/** Closing the files after all clients are gone takes well under this. */
const CLOSE_TIMEOUT_MS = 10_000;

export class DatabaseHost {
  /** Resolves with the reason when the worker died without being asked to; never rejects. */
  readonly failed: Promise<Error>;
  readonly #worker: Worker;
  readonly #ended: Promise<void>;

  private constructor(worker: Worker, failed: Promise<Error>, ended: Promise<void>) {
    this.#worker = worker;
    this.failed = failed;
    this.#ended = ended;
  }

  /**
   * Starts the worker.
   *
   * @returns once clients can connect to the socket
   * @throws EmbeddedDatabaseError where the database cannot be opened
   */
  static async start(data: DatabaseWorkerData): Promise<DatabaseHost> {
    const worker = new Worker(siblingModule(import.meta.url, './worker'), {
      workerData: data,
      name: 'svc-database',
    });
    const ready = Promise.withResolvers<void>();
    const failed = Promise.withResolvers<Error>();
    const ended = Promise.withResolvers<void>();
    const fail = (error: Error) => {
      failed.resolve(error);
      ready.reject(error);
      ended.resolve();
    };
    worker.on('message', (report: DatabaseWorkerReport) => {
      if (report.type === 'ready') ready.resolve();
      else if (report.type === 'closed') ended.resolve();
      else fail(fromPortableError(report.error));
    });
    worker.on('error', (error) => fail(workerDied(error instanceof Error ? error.message : String(error))));
    worker.on('exit', (code) => {
      if (!stopping.has(worker)) fail(workerDied(`its worker thread ended with code ${code}`));
      ended.resolve();
    });
    try {
      await ready.promise;
    } catch (error) {
      await stop(worker);
      throw error;
    }
    return new DatabaseHost(worker, failed.promise, ended.promise);
  }

  /** Closes the database in an orderly way, and the thread in any case. */
  async close(times: Omit<DatabaseWorkerOrder, 'type'>): Promise<void> {
    stopping.add(this.#worker);
    const order: DatabaseWorkerOrder = { type: 'close', ...times };
    this.#worker.postMessage(order);
    const limitMs = times.lingerMs + 2 * times.graceMs + CLOSE_TIMEOUT_MS;
    const timeout = Promise.withResolvers<void>();
    const timer = setTimeout(timeout.resolve, limitMs);
    await Promise.race([this.#ended, timeout.promise]);
    clearTimeout(timer);
    await stop(this.#worker);
  }
}

/** Workers whose end was asked for. */
const stopping = new WeakSet<Worker>();

async function stop(worker: Worker): Promise<void> {
  stopping.add(worker);
  await worker.terminate();
}
