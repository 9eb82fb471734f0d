// A job that runs as long as its scheduler: one scheduler at a time has it, under its lease; the others stand by.
import { hostname } from 'node:os';
import { setTimeout as pause } from 'node:timers/promises';
import { codeOf } from '../platform/errors.ts';
import { withLease } from '../platform/lease.ts';
import type { Platform } from '../platform/platform.ts';
import { closeAbandoned, recordStart } from './history.ts';
import type { JobDefinition } from './jobs.ts';
import { type JobOutcome, type JobRun, leaseOf, loadJob, recordOutcome, whileRenewing } from './run-job.ts';

export interface ContinuousOptions {
  job: JobDefinition;
  command: string;
  signal: AbortSignal;
  /** The work; the job's own file unless told otherwise. */
  work?: JobRun;
  /** How long whoever stands by waits before it looks again. */
  standbyMs?: number;
}

/** Waits for the job's lease, then runs it until the signal aborts or the lease is lost. Records the run. */
export async function runContinuously(
  platform: Platform,
  { job, command, signal, standbyMs = 1_000, ...options }: ContinuousOptions,
): Promise<JobOutcome> {
  const { database, clock } = platform;
  const work = options.work ?? (await loadJob(job));
  const holder = `${command} (process ${process.pid} on ${hostname()})`;
  const wanted = leaseOf(job, command);
  while (!signal.aborted) {
    try {
      return await withLease(platform, wanted, async (lease) => {
        const startedAt = new Date(clock.now());
        const id = await recordStart(database, { job: job.name, scheduledFor: undefined, startedAt, holder });
        if (id === undefined) throw new Error('a run without a schedule was refused');
        await closeAbandoned(database, job.name, {
          successor: id,
          now: startedAt,
          leaseMs: wanted.durationMs,
        });
        const outcome = await whileRenewing(platform, job, lease, signal, (untilLost) =>
          work(platform, { command, signal: untilLost, lease, isContinuous: true }),
        );
        return recordOutcome(platform, id, outcome);
      });
    } catch (error) {
      if (codeOf(error) !== 'LEASE_HELD') return { status: 'failed', error };
      await pause(standbyMs, undefined, { signal }).catch(() => undefined);
    }
  }
  return { status: 'skipped', reason: 'another scheduler ran it all the time' };
}
