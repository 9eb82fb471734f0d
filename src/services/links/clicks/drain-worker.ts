// Worker: moves the journal of clicks into the tables, round after round. Counting thousands of clicks and writing
// them down takes milliseconds at a time, which the loop that answers redirects does not have to spare.
import { setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import type { Config } from '../../../platform/config/config.ts';
import { messageOf } from '../../../platform/errors.ts';
import { createLog } from '../../../platform/log.ts';
import { openPlatform } from '../../../platform/platform.ts';
import { CLICK_JOURNAL, drainBatch } from './drain-journal.ts';

/** What the process hands to its worker. */
export interface DrainWorkerInput {
  config: Config;
}

/** What the process asks for: a round that begins after this and leaves nothing behind, or the end. */
export type DrainRequest = { settle: number } | 'stop';

/** What the worker tells: clicks written, and the end of a round that was asked for. */
export type DrainReport = { recorded: number } | { settled: number; error?: string };

const EVERY_MS = 100;
// On Linux a priority belongs to a thread: redirects go first.
const NICE = 10;

const port = parentPort;
if (!port) throw new Error('drain-worker.ts runs in a worker thread only');
const { config }: DrainWorkerInput = workerData;

let asked: number[] = [];
let stopped = false;
let wake: (() => void) | undefined;
port.on('message', (request: DrainRequest) => {
  if (request === 'stop') stopped = true;
  else asked.push(request.settle);
  wake?.();
});

try {
  await drainUntilStopped();
} finally {
  // The listener above would keep the thread alive.
  port.close();
}

async function drainUntilStopped(): Promise<void> {
  if (process.platform === 'linux') setPriority(NICE);
  const log = await createLog({ level: config.log.level, format: config.log.format });
  const command = 'svc serve: clicks';
  await using platform = await openPlatform({ config: { ...config, role: 'command' }, command, log });
  const journal = platform.ephemeral.journal(CLICK_JOURNAL);
  if (!journal) throw new Error('there is no journal to drain');
  while (!stopped || asked.length > 0) {
    const answering = asked;
    asked = [];
    let error: string | undefined;
    try {
      // Without anybody who waits for the end, a batch that another process is at is left to it.
      const wait = answering.length > 0;
      for (let empty = false; !empty; ) {
        const result = await drainBatch(platform.database, journal, wait);
        if (result.recorded > 0) tell({ recorded: result.recorded });
        empty = result.empty;
      }
    } catch (caught) {
      error = messageOf(caught);
      log.debug({ error }, 'draining the journal of clicks failed');
    }
    for (const settled of answering) tell({ settled, ...(error !== undefined && { error }) });
    if (asked.length === 0 && !stopped) await pause();
  }
}

function tell(report: DrainReport): void {
  port?.postMessage(report);
}

function pause(): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(done, EVERY_MS);
    wake = done;
    function done(): void {
      clearTimeout(timer);
      wake = undefined;
      resolve();
    }
  });
}
