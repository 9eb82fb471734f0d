// One run of one job: under the job's lease, so never twice at once, and written into the history.
import { hostname } from 'node:os';
import { codeOf, messageOf } from '../platform/errors.ts';
import { withLease } from '../platform/lease.ts';
import type { Platform } from '../platform/platform.ts';
import { siblingModule } from '../platform/sibling-module.ts';
import { closeAbandoned, recordEnd, recordStart } from './history.ts';
import type { JobDefinition } from './jobs.ts';

export interface JobContext {
  /** Who runs it, for whoever finds the lock held. */
  command: string;
  /** Aborts when the process stops or the run's time is up; the job then ends at its next safe point. */
  signal: AbortSignal;
}

/** What a job's file exports as `run`: does the work, returns what it did. */
export type JobRun = (platform: Platform, context: JobContext) => Promise<Record<string, unknown>>;

export type JobOutcome =
  | { status: 'succeeded'; result: Record<string, unknown> }
  | { status: 'failed'; error: unknown }
  /** Another scheduler has this minute, or the job is still running from before. */
  | { status: 'skipped'; reason: string };

export interface RunJobOptions extends JobContext {
  job: JobDefinition;
  scheduledFor?: Date;
  /** The work; the job's own file unless told otherwise. */
  work?: JobRun;
}

/** Runs a job once and records it. Does not throw for a job that fails; the outcome says so. */
export async function runJob(platform: Platform, options: RunJobOptions): Promise<JobOutcome> {
  const { job, command, scheduledFor } = options;
  const { database, clock } = platform;
  const work = options.work ?? (await loadJob(job));
  const holder = `${command} (process ${process.pid} on ${hostname()})`;
  const startedAt = new Date(clock.now());
  const jobRunId = await recordStart(database, { job: job.name, scheduledFor, startedAt, holder });
  if (jobRunId === undefined)
    return { status: 'skipped', reason: 'another scheduler ran it for this minute' };

  const outcome = await withLease(platform, { name: `job:${job.name}`, command }, async (lease) => {
    await closeAbandoned(database, job.name, jobRunId, startedAt);
    const stopRenewing = renewRegularly(platform, lease);
    try {
      return { status: 'succeeded', result: await work(platform, options) } as const;
    } catch (error) {
      return { status: 'failed', error } as const;
    } finally {
      stopRenewing();
    }
  }).catch((error: unknown): JobOutcome => {
    if (codeOf(error) === 'LEASE_HELD') return { status: 'skipped', reason: messageOf(error) };
    return { status: 'failed', error };
  });
  await recordEnd(database, jobRunId, {
    finishedAt: new Date(clock.now()),
    status: outcome.status,
    ...(outcome.status === 'succeeded' && { result: outcome.result }),
    ...(outcome.status === 'failed' && { error: messageOf(outcome.error) }),
    ...(outcome.status === 'skipped' && { error: outcome.reason }),
  });
  return outcome;
}

const RENEW_EVERY_MS = 15_000;

function renewRegularly(
  platform: Platform,
  lease: { renew: (transaction: Platform['database']) => Promise<void> },
): () => void {
  const timer = setInterval(() => {
    lease.renew(platform.database).catch((error: unknown) => {
      platform.log.warn({ error: messageOf(error) }, 'renewing the lease of a job failed');
    });
  }, RENEW_EVERY_MS);
  return () => clearInterval(timer);
}

async function loadJob(job: JobDefinition): Promise<JobRun> {
  const module: { run?: JobRun } = await import(siblingModule(import.meta.url, `./${job.name}`).href);
  if (!module.run) throw new Error(`the file of job ${job.name} exports no run`);
  return module.run;
}
