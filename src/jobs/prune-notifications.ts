// Job: forget notifications that nobody will look for any more.
import { pruneNotifications } from '../services/kanban/notifications.ts';
import type { JobRun } from './run-job.ts';

const KEEP_MS = 90 * 86_400_000;

export const run: JobRun = async ({ database, clock }) => ({
  notifications: await pruneNotifications(database, new Date(clock.now() - KEEP_MS)),
});
