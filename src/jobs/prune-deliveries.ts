// Job: forget webhook deliveries that were delivered long ago.
import { forgetDelivered } from '../services/kanban/webhooks/administer-deliveries.ts';
import type { JobRun } from './run-job.ts';

export const run: JobRun = async (platform, { command, signal }) => ({
  ...(await forgetDelivered(platform, platform.config.webhooks.keepDeliveredMs, { command, signal })),
});
