// Dispatchers of webhooks in the process of a test.
import type { GuardedClient } from '../../src/platform/outbound/guarded-client.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { createDispatcher, type Dispatcher } from '../../src/services/kanban/webhooks/dispatch/dispatcher.ts';
import { DISPATCH_LEASE } from '../../src/services/kanban/webhooks/dispatch/outbox.ts';

let made = 0;

/** Makes one that takes the lease, whoever holds it. */
export async function takeOverDispatch(
  platform: Platform,
  client: GuardedClient,
  random: () => number = () => 0,
): Promise<Dispatcher> {
  const token = `lease ${++made}`;
  const now = new Date(platform.clock.now());
  const held = { token, holder: 'a test', acquiredAt: now, expiresAt: now };
  await platform.database
    .insertInto('lease')
    .values({ name: DISPATCH_LEASE, ...held })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(held))
    .execute();
  return createDispatcher({ platform, client, token, random });
}
