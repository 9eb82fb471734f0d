// Job: remove expired pastes for good.
import { purgePastes } from '../services/paste/purge-pastes.ts';
import type { JobRun } from './run-job.ts';

export const run: JobRun = async (platform, { command, signal }) => ({
  ...(await purgePastes(platform, { command, signal })),
});
