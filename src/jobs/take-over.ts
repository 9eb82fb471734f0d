// Runs that were cut off: by the record they go on, but nobody has their lease any more, for their process died.
import { sql } from 'kysely';
import type { Platform } from '../platform/platform.ts';
import { type JobDefinition, jobs } from './jobs.ts';
import { leaseOf } from './run-job.ts';

/**
 * Names of the jobs of the schedule that have a run which was cut off. A run takes its lease a moment after it is
 * recorded: one that never did counts as dead as late as one that took it at once and died.
 */
export async function findCutOff(
  { database, clock }: Pick<Platform, 'database' | 'clock'>,
  among: readonly JobDefinition[] = jobs.filter(({ cron }) => cron !== undefined),
): Promise<string[]> {
  const leases = among.map((job) => leaseOf(job, ''));
  const { rows } = await sql<{ job: string }>`
    SELECT DISTINCT known.job
    FROM unnest(
      ${among.map(({ name }) => name)}::text[], ${leases.map(({ name }) => name)}::text[],
      ${leases.map(({ durationMs }) => new Date(clock.now() - durationMs))}::timestamptz[]
    ) AS known (job, lease, started_by)
    JOIN job_run ON job_run.job = known.job AND status = 'running' AND started_at <= started_by
    WHERE NOT EXISTS (SELECT FROM lease WHERE lease.name = known.lease AND expires_at > ${new Date(clock.now())})`.execute(
    database,
  );
  return rows.map(({ job }) => job);
}
