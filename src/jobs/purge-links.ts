// Job: remove links that expired long ago, and what is left of the clicks of deleted ones.
import { purgeLinks } from '../services/links/purge-links.ts';
import type { JobRun } from './run-job.ts';

export const run: JobRun = async (platform, { command, signal }) => ({
  ...(await purgeLinks(platform, { command, signal })),
});
