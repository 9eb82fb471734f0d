// Job: forget notifications that nobody will look for any more.
import { pruneNotifications } from '../services/kanban/notifications.ts';
import { deleteInBatches } from './delete-in-batches.ts';
import type { JobRun } from './run-job.ts';

const KEEP_MS = 90 * 86_400_000;

export const run: JobRun = async (platform, context) => {
  const before = new Date(platform.clock.now() - KEEP_MS);
  const { rows, complete } = await deleteInBatches(platform, context, (transaction, most) =>
    pruneNotifications(transaction, before, most),
  );
  return { notifications: rows, complete };
};
