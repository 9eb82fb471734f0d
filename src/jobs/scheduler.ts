// Door 3: bree starts a worker for each job when its time comes, in UTC.
import { fileURLToPath } from 'node:url';
import Bree from 'bree';
import type { Platform } from '../platform/platform.ts';
import { siblingModule } from '../platform/sibling-module.ts';
import { findJob, jobs } from './jobs.ts';
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

/** Starts the scheduler of a process. Any number may run over one database. */
export async function startScheduler(platform: Platform): Promise<Scheduler> {
  const { config, log, metrics } = platform;
  let isStopping = false;
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
    workerMessageHandler: ({ name, message }) => {
      const { status, detail } = message as WorkerReport;
      metrics.jobRuns.inc({ job: name, status });
      log[status === 'failed' ? 'error' : 'info']({ job: name, status, detail }, 'job ended');
    },
    jobs: jobs.map((job) => ({
      name: job.name,
      path: fileURLToPath(siblingModule(import.meta.url, './worker')),
      ...(job.cron === undefined
        ? { timeout: 0 }
        : { cron: job.cron, closeWorkerAfterMs: job.timeLimitMs + GRACE_MS }),
      worker: {
        workerData: { config, jobName: job.name } satisfies WorkerInput,
        env: { ...process.env, TZ: 'UTC' },
      },
    })),
  });
  // What runs all the time and ended nevertheless (the database was away, its lease was lost) starts again.
  bree.on('worker deleted', (name: string) => {
    if (isStopping || findJob(name)?.cron !== undefined) return;
    setTimeout(() => {
      if (!isStopping)
        bree.run(name).catch((error: unknown) => log.error({ error, job: name }, 'a job did not start'));
    }, RESTART_AFTER_MS).unref();
  });
  await bree.start();
  return {
    run: (job) => bree.run(job),
    stop: async (withinMs) => {
      isStopping = true;
      const deadline = new Promise((resolve) => setTimeout(resolve, withinMs).unref());
      // stop() waits for ever for a worker that does not answer.
      await Promise.race([bree.stop(), deadline]);
      await Promise.all([...bree.workers.values()].map((worker) => worker.terminate()));
    },
  };
}
