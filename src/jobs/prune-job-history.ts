// Job: forget runs of jobs that ended long ago.
import { pruneHistory } from './history.ts';
import type { JobRun } from './run-job.ts';

const KEEP_MS = 30 * 86_400_000;

export const run: JobRun = async ({ database, clock }) => ({
  runs: await pruneHistory(database, new Date(clock.now() - KEEP_MS)),
});
