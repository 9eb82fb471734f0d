// What `svc jobs list|run|history` do.
import type { Command } from 'commander';
import { type JobRunRecord, lastRuns, listRuns } from '../../jobs/history.ts';
import { findJob, type JobDefinition, jobs } from '../../jobs/jobs.ts';
import { runJob } from '../../jobs/run-job.ts';
import { formatDuration } from '../../platform/duration.ts';
import { Failure, messageOf } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import { note, print, printJson, type Terminal } from '../terminal.ts';
import { interruptible, withPlatform } from '../with-platform.ts';

/** Lists the jobs with their last run. */
export async function runJobsList(terminal: Terminal, command: Command): Promise<void> {
  const { json = false } = command.opts<{ json?: boolean }>();
  await withPlatform(terminal, command, 'svc jobs list', async ({ database }) => {
    const last = new Map((await lastRuns(database)).map((run) => [run.job, run]));
    for (const { name, cron, description } of jobs) {
      const run = last.get(name);
      if (json)
        printJson(terminal, { name, cron: cron ?? null, description, lastRun: run ? represent(run) : null });
      else
        print(
          terminal,
          `${name.padEnd(20)}  ${(cron ?? 'all the time').padEnd(14)}  ${description}; ${run ? `last: ${outcomeOf(run)}` : 'never ran'}`,
        );
    }
  });
}

/** Runs a job now, in this process. */
export async function runJobsRun(terminal: Terminal, command: Command, name: string): Promise<void> {
  const job = requireJob(name);
  const { json = false } = command.opts<{ json?: boolean }>();
  await withPlatform(terminal, command, `svc jobs run ${name}`, async (platform) => {
    const interrupt = interruptible();
    const outcome = await runJob(platform, {
      job,
      command: `svc jobs run ${name}`,
      signal: AbortSignal.any([interrupt.signal, AbortSignal.timeout(job.timeLimitMs)]),
    }).finally(interrupt.done);
    if (outcome.status === 'succeeded') {
      if (json) printJson(terminal, { job: name, status: outcome.status, result: outcome.result });
      else print(terminal, `${name} succeeded ${JSON.stringify(outcome.result)}`);
      if (interrupt.signal.aborted) {
        note(terminal, 'interrupted at a safe point; run it again to go on');
        process.exitCode = interrupt.interruptedBy() === 'SIGTERM' ? EXIT.terminated : EXIT.interrupted;
      }
      return;
    }
    if (outcome.status === 'failed') throw outcome.error;
    throw new Failure({
      code: 'JOB_RUNNING',
      message: outcome.reason,
      hint: `svc jobs history ${name}`,
      exit: EXIT.lockHeld,
    });
  });
}

/** Shows past runs. */
export async function runJobsHistory(
  terminal: Terminal,
  command: Command,
  name: string | undefined,
): Promise<void> {
  if (name !== undefined) requireJob(name);
  const { json = false, limit, since } = command.opts<{ json?: boolean; limit: number; since?: number }>();
  await withPlatform(terminal, command, 'svc jobs history', async ({ database, clock }) => {
    const runs = await listRuns(database, {
      job: name,
      limit,
      since: since === undefined ? undefined : new Date(clock.now() - since),
    });
    for (const run of runs) {
      if (json) printJson(terminal, represent(run));
      else print(terminal, `${run.startedAt.toISOString()}  ${run.job.padEnd(20)}  ${outcomeOf(run)}`);
    }
    if (runs.length === 0 && !json) note(terminal, 'no runs yet');
  });
}

function requireJob(name: string): JobDefinition {
  const job = findJob(name);
  if (job) return job;
  throw new Failure({
    code: 'NO_SUCH_JOB',
    message: `there is no job called ${name}`,
    hint: `one of: ${jobs.map((candidate) => candidate.name).join(', ')}`,
    exit: EXIT.usage,
  });
}

function represent(run: JobRunRecord): Record<string, unknown> {
  const { jobRunId: id, job, scheduledFor, startedAt, finishedAt, status, holder, result, error } = run;
  return { id, job, scheduledFor, startedAt, finishedAt, status, holder, result, error };
}

function outcomeOf(run: JobRunRecord): string {
  if (!run.finishedAt) return `running since ${run.startedAt.toISOString()} (${run.holder})`;
  const took = formatDuration(run.finishedAt.getTime() - run.startedAt.getTime());
  const detail = run.error ?? (run.result === null ? '' : JSON.stringify(run.result));
  return `${run.status} at ${run.finishedAt.toISOString()} in ${took} ${messageOf(detail)}`.trimEnd();
}
