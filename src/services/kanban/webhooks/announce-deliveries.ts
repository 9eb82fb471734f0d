// What the dispatcher of webhooks is told, in whichever process it runs. It also looks by itself, once a second.
import { messageOf } from '../../../platform/errors.ts';
import type { KanbanService } from '../kanban-service.ts';

export const DELIVERIES_CHANNEL = 'webhook-deliveries';

/** What happened to the outbox: one of these, or nothing that can be named. */
export interface DeliveriesNews {
  /** Webhooks for which deliveries were written. */
  written?: readonly string[];
  /** The webhook that was changed: what the dispatcher knows of it is to be forgotten. */
  changed?: string;
}

/** Wakes the dispatcher, after the commit; does not wait for it. */
export function wakeDispatcher(
  { platform }: Pick<KanbanService, 'platform'>,
  news: DeliveriesNews = {},
): void {
  const { ephemeral, log } = platform;
  ephemeral.publish(DELIVERIES_CHANNEL, JSON.stringify(news)).catch((error: unknown) => {
    log.debug({ error: messageOf(error) }, 'the dispatcher was not woken; it looks by itself');
  });
}
