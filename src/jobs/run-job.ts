// One run of one job: under the job's lease, so never twice at once, and written into the history.
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf, messageOf } from '../platform/errors.ts';
import { type Lease, withLease } from '../platform/lease.ts';
import type { Platform } from '../platform/platform.ts';
import { siblingModule } from '../platform/sibling-module.ts';
import { closeAbandoned, recordEnd, recordStart } from './history.ts';
import type { JobDefinition } from './jobs.ts';

interface Caller {
  /** Who runs it, for whoever finds the lock held. */
  command: string;
  /** Aborts when the process stops, the run's time is up or its lease is lost; the job then ends at its next safe point. */
  signal: AbortSignal;
}

export interface JobContext extends Caller {
  lease: Lease;
  /** Whether it is to run until it is told to end, and not just to do what there is to do. */
  isContinuous: boolean;
}

/** What a job's file exports as `run`: does the work, returns what it did. */
export type JobRun = (platform: Platform, context: JobContext) => Promise<Record<string, unknown>>;

export type JobOutcome =
  | { status: 'succeeded'; result: Record<string, unknown> }
  | { status: 'failed'; error: unknown }
  /** Another scheduler has this minute, or the job is still running from before. */
  | { status: 'skipped'; reason: string };

export interface RunJobOptions extends Caller {
  job: JobDefinition;
  scheduledFor?: Date;
  /** Whether it only does what a run that was cut off has left undone. */
  takesOver?: boolean;
  /** The work; the job's own file unless told otherwise. */
  work?: JobRun;
  /** How long it waits before it asks again for what a dead run held. */
  retryMs?: number;
}

/** Runs a job once and records it. Does not throw for a job that fails; the outcome says so. */
export async function runJob(platform: Platform, options: RunJobOptions): Promise<JobOutcome> {
  const { job, command, scheduledFor, takesOver = false, retryMs = 1_000 } = options;
  const { database, clock } = platform;
  const work = options.work ?? (await loadJob(job));
  const holder = `${command} (process ${process.pid} on ${hostname()})`;
  const startedAt = new Date(clock.now());
  const jobRunId = await recordStart(database, { job: job.name, scheduledFor, startedAt, holder });
  if (jobRunId === undefined)
    return { status: 'skipped', reason: 'another scheduler ran it for this minute' };

  const record = (outcome: JobOutcome) => recordOutcome(platform, jobRunId, outcome);
  const lease = leaseOf(job, command);
  return withLease(platform, lease, async (held): Promise<JobOutcome> => {
    // Whoever closes a run that was cut off does its work: the lease lets one do that.
    const cutOff = await closeAbandoned(database, job.name, {
      successor: jobRunId,
      now: startedAt,
      leaseMs: lease.durationMs,
    });
    if (takesOver && cutOff === 0) {
      return record({ status: 'skipped', reason: 'another scheduler took it over' });
    }
    const outcome = await whileRenewing(platform, job, held, options.signal, (signal) => {
      const attempt = () => work(platform, { command, signal, lease: held, isContinuous: false });
      return cutOff === 0 ? attempt() : untilReleased(platform, attempt, { signal, retryMs });
    });
    // Before the next one can have the lease, who would take this run for one that was cut off.
    return record(outcome);
  }).catch((error: unknown) =>
    codeOf(error) === 'LEASE_HELD'
      ? record({ status: 'skipped', reason: messageOf(error) })
      : record({ status: 'failed', error }),
  );
}

/** Writes down how a run ended, and answers it. */
export async function recordOutcome(
  { database, clock }: Platform,
  jobRunId: number,
  outcome: JobOutcome,
): Promise<JobOutcome> {
  await recordEnd(database, jobRunId, {
    finishedAt: new Date(clock.now()),
    status: outcome.status,
    ...(outcome.status === 'succeeded' && { result: outcome.result }),
    ...(outcome.status === 'failed' && { error: messageOf(outcome.error) }),
    ...(outcome.status === 'skipped' && { error: outcome.reason }),
  });
  return outcome;
}

const LEASE_MS = 60_000;

/** The lease of a job: whoever holds it runs the job. */
export function leaseOf({ name, leaseMs = LEASE_MS }: JobDefinition, command: string) {
  return { name: `job:${name}`, command, durationMs: leaseMs };
}

/** Runs work and renews its lease meanwhile; the work's signal aborts when the lease is lost. */
export async function whileRenewing(
  platform: Platform,
  { leaseMs = LEASE_MS }: JobDefinition,
  lease: Lease,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Record<string, unknown>>,
): Promise<Exclude<JobOutcome, { status: 'skipped' }>> {
  const lost = new AbortController();
  const timer = setInterval(() => {
    lease.renew(platform.database).catch((error: unknown) => {
      platform.log.warn({ error: messageOf(error) }, 'renewing the lease of a job failed');
      if (codeOf(error) === 'LEASE_LOST') lost.abort(error);
    });
  }, leaseMs / 4);
  try {
    const result = await work(AbortSignal.any([signal, lost.signal]));
    return { status: 'succeeded', result };
  } catch (error) {
    return { status: 'failed', error };
  } finally {
    clearInterval(timer);
  }
}

/**
 * Tries work again that finds a lease held: purges have one of their own beside the job's, and the dead run may have
 * renewed that last. It ends within its time, unless somebody else has it.
 */
async function untilReleased<T>(
  { clock }: Platform,
  work: () => Promise<T>,
  { signal, retryMs }: { signal: AbortSignal; retryMs: number },
): Promise<T> {
  const deadline = clock.now() + LEASE_MS;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (codeOf(error) !== 'LEASE_HELD' || clock.now() >= deadline || signal.aborted) throw error;
      await pause(retryMs, undefined, { signal }).catch(() => undefined);
    }
  }
}

/** The work of a job, from its file. */
export async function loadJob(job: JobDefinition): Promise<JobRun> {
  const module: { run?: JobRun } = await import(siblingModule(import.meta.url, `./${job.name}`).href);
  if (!module.run) throw new Error(`the file of job ${job.name} exports no run`);
  return module.run;
}
