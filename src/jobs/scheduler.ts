// Door 3: bree starts a worker for each job when its time comes, in UTC, and when a run of it was cut off.
import { fileURLToPath } from 'node:url';
import Bree from 'bree';
import { messageOf } from '../platform/errors.ts';
import type { Platform } from '../platform/platform.ts';
import { siblingModule } from '../platform/sibling-module.ts';
import { findJob, type JobDefinition, jobs } from './jobs.ts';
import { findCutOff } from './take-over.ts';
import type { WorkerInput, WorkerReport } from './worker.ts';

export interface Scheduler {
  /** Starts a job now, besides its schedule; does not wait for it. */
  run(job: string): Promise<void>;
  /** Schedules nothing new, asks running jobs to end, and ends those that do not within the time given. */
  stop(withinMs: number): Promise<void>;
}

// Bree ends a worker by force this long after the job was asked to end.
const GRACE_MS = 10_000;
const RESTART_AFTER_MS = 1_000;
const LOOK_EVERY_MS = 5_000;

/**
 * Starts the scheduler of a process. Any number may run over one database.
 *
 * @param options.lookEveryMs - how often it looks for runs that were cut off
 */
export async function startScheduler(
  platform: Platform,
  { lookEveryMs = LOOK_EVERY_MS }: { lookEveryMs?: number } = {},
): Promise<Scheduler> {
  const { config, log, metrics } = platform;
  let isStopping = false;
  const worker = ({ name: jobName }: JobDefinition, takesOver: boolean) => ({
    path: fileURLToPath(siblingModule(import.meta.url, './worker')),
    worker: {
      workerData: { config, jobName, takesOver } satisfies WorkerInput,
      env: { ...process.env, TZ: 'UTC' },
    },
  });
  const bree = new Bree({
    root: false,
    timezone: 'UTC',
    acceptedExtensions: ['.js', '.ts'],
    logger: {
      info: () => {},
      warn: (message: unknown) => log.warn({ detail: String(message) }, 'scheduler'),
      error: (message: unknown) => log.error({ detail: String(message) }, 'scheduler'),
    },
    errorHandler: (error, { name }) => log.error({ error, job: name }, 'the worker of a job failed'),
    workerMessageHandler: ({ message }) => {
      const { job, status, detail } = message as WorkerReport;
      metrics.jobRuns.inc({ job, status });
      log[status === 'failed' ? 'error' : 'info']({ job, status, detail }, 'job ended');
    },
    jobs: jobs.flatMap((job): Bree.JobOptions[] => {
      if (job.cron === undefined) return [{ name: job.name, timeout: 0, ...worker(job, false) }];
      const closeWorkerAfterMs = job.timeLimitMs + GRACE_MS;
      return [
        { name: job.name, cron: job.cron, closeWorkerAfterMs, ...worker(job, false) },
        // Without a time of its own.
        { name: takeOverOf(job.name), timeout: false, closeWorkerAfterMs, ...worker(job, true) },
      ];
    }),
  });
  // What runs all the time and ended nevertheless (the database was away, its lease was lost) starts again.
  bree.on('worker deleted', (name: string) => {
    const job = findJob(name);
    if (isStopping || !job || job.cron !== undefined) return;
    setTimeout(() => {
      if (!isStopping)
        bree.run(name).catch((error: unknown) => log.error({ error, job: name }, 'a job did not start'));
    }, RESTART_AFTER_MS).unref();
  });
  const look = async () => {
    for (const job of await findCutOff(platform)) {
      if (isStopping || bree.workers.has(takeOverOf(job))) continue;
      log.warn({ job }, 'a run of a job was cut off; it is run again');
      await bree.run(takeOverOf(job));
    }
  };
  await bree.start();
  const timer = setInterval(() => {
    look().catch((error: unknown) =>
      log.debug({ error: messageOf(error) }, 'looking for jobs that were cut off failed'),
    );
  }, lookEveryMs).unref();
  return {
    run: (job) => bree.run(job),
    stop: async (withinMs) => {
      isStopping = true;
      clearInterval(timer);
      const deadline = new Promise((resolve) => setTimeout(resolve, withinMs).unref());
      // stop() waits for ever for a worker that does not answer.
      await Promise.race([bree.stop(), deadline]);
      await Promise.all([...bree.workers.values()].map((worker) => worker.terminate()));
    },
  };
}

/** What bree calls the run of a job that takes over from one that was cut off. */
function takeOverOf(job: string): string {
  return `${job}, taking over`;
}
