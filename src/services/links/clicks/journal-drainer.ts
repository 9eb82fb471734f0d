// The worker that drains the journal of clicks, as the process sees it: started again when it dies, asked to settle,
// told to stop.
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { Platform } from '../../../platform/platform.ts';
import { siblingModule } from '../../../platform/sibling-module.ts';
import type { DrainReport, DrainRequest, DrainWorkerInput } from './drain-worker.ts';

export interface JournalDrainer {
  /**
   * Resolves once every click that was in the journal before the call is in the tables.
   *
   * @throws when they could not be written
   */
  settle(): Promise<void>;
  close(): Promise<void>;
}

const RESTART_AFTER_MS = 500;

/** Starts the worker. */
export function startJournalDrainer({ config, log, metrics }: Platform): JournalDrainer {
  const waiting = new Map<number, PromiseWithResolvers<void>>();
  let asked = 0;
  let closed = false;
  let restart: NodeJS.Timeout | undefined;
  let worker: Worker | undefined = start();

  function start(): Worker {
    const started = new Worker(siblingModule(import.meta.url, './drain-worker'), {
      workerData: { config } satisfies DrainWorkerInput,
    });
    started.on('message', (report: DrainReport) => {
      if ('recorded' in report) metrics.linkClicks.inc(report.recorded);
      else answer(report.settled, report.error);
    });
    started.on('error', (error) => log.error({ error }, 'the thread that writes clicks down failed'));
    started.on('exit', () => {
      worker = undefined;
      for (const id of [...waiting.keys()]) answer(id, 'the thread that writes clicks down ended');
      if (closed) return;
      restart = setTimeout(() => {
        worker = start();
      }, RESTART_AFTER_MS);
    });
    return started;
  }

  function answer(id: number, error: string | undefined): void {
    const one = waiting.get(id);
    waiting.delete(id);
    if (error === undefined) one?.resolve();
    else one?.reject(new Error(`clicks could not be written down: ${error}`));
  }

  function settle(): Promise<void> {
    const id = ++asked;
    const settled = Promise.withResolvers<void>();
    waiting.set(id, settled);
    if (worker) worker.postMessage({ settle: id } satisfies DrainRequest);
    else answer(id, 'the thread that does it is being started again');
    return settled.promise;
  }

  async function close(): Promise<void> {
    closed = true;
    clearTimeout(restart);
    if (!worker) return;
    const ended = once(worker, 'exit').catch(() => undefined);
    worker.postMessage('stop' satisfies DrainRequest);
    await ended;
  }

  return { settle, close };
}
