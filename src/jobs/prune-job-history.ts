// Job: forget runs of jobs that ended long ago.
import { deleteInBatches } from './delete-in-batches.ts';
import { pruneHistory } from './history.ts';
import type { JobRun } from './run-job.ts';

const KEEP_MS = 30 * 86_400_000;

export const run: JobRun = async (platform, context) => {
  const before = new Date(platform.clock.now() - KEEP_MS);
  const { rows, complete } = await deleteInBatches(platform, context, (transaction, most) =>
    pruneHistory(transaction, before, most),
  );
  return { runs: rows, complete };
};
