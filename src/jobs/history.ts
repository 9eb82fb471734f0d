// The history of job runs: who ran what when, and how it ended.
import type { Selectable } from 'kysely';
import type { Database } from '../platform/database/connect.ts';
import type { JobRunStatus, JobRunTable } from '../platform/database/tables.ts';

export type JobRunRecord = Selectable<JobRunTable>;

export interface RunStart {
  job: string;
  /** The minute of the schedule; undefined when a person started it. */
  scheduledFor: Date | undefined;
  startedAt: Date;
  holder: string;
}

/**
 * Writes down that a run starts.
 *
 * @returns its id, or undefined when another scheduler has this minute of the schedule
 */
export async function recordStart(database: Database, start: RunStart): Promise<number | undefined> {
  const row = await database
    .insertInto('jobRun')
    .values({ ...start, scheduledFor: start.scheduledFor ?? null, status: 'running' })
    .onConflict((conflict) => conflict.constraint('job_run_once_per_schedule').doNothing())
    .returning('jobRunId')
    .executeTakeFirst();
  return row?.jobRunId;
}

export interface RunEnd {
  finishedAt: Date;
  status: Exclude<JobRunStatus, 'running'>;
  result?: Record<string, unknown>;
  error?: string;
}

/** Writes down how a run ended. */
export async function recordEnd(database: Database, jobRunId: number, end: RunEnd): Promise<void> {
  await database
    .updateTable('jobRun')
    .set({
      finishedAt: end.finishedAt,
      status: end.status,
      result: end.result === undefined ? null : JSON.stringify(end.result),
      error: end.error ?? null,
    })
    .where('jobRunId', '=', jobRunId)
    .execute();
}

/**
 * Closes runs of a job that never ended: their process died. To be called by whoever holds the job's lease. Runs that
 * began within the time of a lease are left alone: they may be about to find out that somebody has it.
 *
 * @param successor - the run that does what they left undone
 * @returns how many there were
 */
export async function closeAbandoned(
  database: Database,
  job: string,
  { successor, now, leaseMs }: { successor: number; now: Date; leaseMs: number },
): Promise<number> {
  const { numUpdatedRows } = await database
    .updateTable('jobRun')
    .set({
      finishedAt: now,
      status: 'failed',
      error: `the process that ran it died; run ${successor} took over`,
    })
    .where('job', '=', job)
    .where('status', '=', 'running')
    .where('jobRunId', '<', successor)
    .where('startedAt', '<=', new Date(now.getTime() - leaseMs))
    .executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Runs, newest first. */
export async function listRuns(
  database: Database,
  { job, since, limit }: { job: string | undefined; since: Date | undefined; limit: number },
): Promise<JobRunRecord[]> {
  let query = database
    .selectFrom('jobRun')
    .selectAll()
    .orderBy('startedAt', 'desc')
    .orderBy('jobRunId', 'desc')
    .limit(limit);
  if (job !== undefined) query = query.where('job', '=', job);
  if (since !== undefined) query = query.where('startedAt', '>=', since);
  return query.execute();
}

/** The newest run of each job that has one. */
export async function lastRuns(database: Database): Promise<JobRunRecord[]> {
  return database
    .selectFrom('jobRun')
    .selectAll()
    .distinctOn('job')
    .orderBy('job')
    .orderBy('startedAt', 'desc')
    .execute();
}

/** Forgets runs that ended before a moment, at most so many. Returns how many. */
export async function pruneHistory(database: Database, before: Date, most: number): Promise<number> {
  const { numDeletedRows } = await database
    .deleteFrom('jobRun')
    .where('jobRunId', 'in', (query) =>
      query
        .selectFrom('jobRun')
        .select('jobRunId')
        .where('finishedAt', '<', before)
        .orderBy('jobRunId')
        .limit(most),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
