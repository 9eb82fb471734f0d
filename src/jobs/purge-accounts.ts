// Job: remove the rows of accounts that were deleted long enough ago, and what signing in leaves behind.
import { pruneSignIns, purgeAccounts } from '../services/kanban/accounts/purge-accounts.ts';
import type { JobRun } from './run-job.ts';

export const run: JobRun = async (platform, { command, signal }) => ({
  ...(await pruneSignIns(platform)),
  ...(await purgeAccounts(platform, { command, signal })),
});
