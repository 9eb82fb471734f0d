// Runs in a worker thread that bree starts: builds a small platform of its own and runs one job in it.
import { parentPort, workerData } from 'node:worker_threads';
import type { Config } from '../platform/config/config.ts';
import { messageOf } from '../platform/errors.ts';
import { createLog } from '../platform/log.ts';
import { openPlatform } from '../platform/platform.ts';
import { findJob } from './jobs.ts';
import { runContinuously } from './run-continuously.ts';
import { runJob } from './run-job.ts';

/** What the scheduler hands to the worker. */
export interface WorkerInput {
  config: Config;
  jobName: string;
  /** Whether it does what a run that was cut off has left undone, besides the schedule. */
  takesOver: boolean;
}

/** What the worker reports before it ends. */
export interface WorkerReport {
  job: string;
  status: 'succeeded' | 'failed' | 'skipped';
  detail: unknown;
}

const MINUTE_MS = 60_000;

const { config, jobName, takesOver }: WorkerInput = workerData;
const stopping = new AbortController();
parentPort?.on('message', (message: unknown) => {
  if (message === 'cancel') stopping.abort();
});

try {
  parentPort?.postMessage({ job: jobName, ...(await report()) } satisfies WorkerReport);
} finally {
  // The listener above would keep the thread alive.
  parentPort?.close();
}

async function report(): Promise<Omit<WorkerReport, 'job'>> {
  const job = findJob(jobName);
  if (!job) return { status: 'failed', detail: `there is no job called ${jobName}` };
  try {
    const log = await createLog({ level: config.log.level, format: config.log.format });
    await using platform = await openPlatform({
      config: { ...config, role: 'command' },
      command: `job ${jobName}`,
      log,
      // Jobs work on the database.
      redisMayBeAway: true,
    });
    const command = takesOver ? 'the scheduler, taking over' : 'the scheduler';
    const outcome =
      job.cron === undefined
        ? await runContinuously(platform, { job, command, signal: stopping.signal })
        : await runJob(platform, {
            job,
            // The schedule fires at the start of a minute; every scheduler names that minute alike.
            ...(takesOver
              ? { takesOver }
              : { scheduledFor: new Date(Math.floor(platform.clock.now() / MINUTE_MS) * MINUTE_MS) }),
            command,
            signal: AbortSignal.any([stopping.signal, AbortSignal.timeout(job.timeLimitMs)]),
          });
    if (outcome.status === 'succeeded') return { status: 'succeeded', detail: outcome.result };
    if (outcome.status === 'skipped') return { status: 'skipped', detail: outcome.reason };
    return { status: 'failed', detail: messageOf(outcome.error) };
  } catch (error) {
    return { status: 'failed', detail: messageOf(error) };
  }
}
