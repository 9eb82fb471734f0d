// What the dispatcher of webhooks is told, in whichever process it runs. It also looks by itself, once a second.
import { messageOf } from '../../../platform/errors.ts';
import type { KanbanService } from '../kanban-service.ts';

/** Messages are empty, or the webhook that was changed. */
export const DELIVERIES_CHANNEL = 'webhook-deliveries';

/**
 * Wakes the dispatcher, after the commit; does not wait for it.
 *
 * @param webhookId - that was changed: what the dispatcher knows of it is to be forgotten
 */
export function wakeDispatcher({ platform }: Pick<KanbanService, 'platform'>, webhookId = ''): void {
  const { ephemeral, log } = platform;
  ephemeral.publish(DELIVERIES_CHANNEL, webhookId).catch((error: unknown) => {
    log.debug({ error: messageOf(error) }, 'the dispatcher was not woken; it looks by itself');
  });
}
