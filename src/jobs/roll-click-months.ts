// Job: make the partitions of coming months for raw clicks, drop those that are too old.
import { dropOldClicks, makeClickMonths } from '../services/links/clicks/click-months.ts';
import type { JobRun } from './run-job.ts';

export const run: JobRun = async ({ database, clock, config }) => {
  await makeClickMonths(database, clock.now());
  return { ...(await dropOldClicks(database, clock.now(), config.links.keepClicksMs)) };
};
