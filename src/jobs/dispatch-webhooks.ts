// Job: send webhooks what they are to be told, as long as the scheduler runs; once, when a person runs it.
import { createGuardedClient } from '../platform/outbound/guarded-client.ts';
import { createDispatcher } from '../services/kanban/webhooks/dispatch/dispatcher.ts';
import type { JobRun } from './run-job.ts';

export const run: JobRun = async (platform, { signal, lease, isContinuous }) => {
  const client = createGuardedClient({ allowPrivate: platform.config.webhooks.privateTargets });
  try {
    const dispatcher = createDispatcher({ platform, client, token: lease.token });
    return await (isContinuous ? dispatcher.run(signal) : dispatcher.drain(signal));
  } finally {
    await client.close();
  }
};
