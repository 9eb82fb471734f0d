// Webhooks as operators look after them.
import { sql } from 'kysely';
import { ulid } from 'ulid';
import type { DeliveryAttempt } from '../../../platform/database/kanban-tables.ts';
import { createGuardedClient } from '../../../platform/outbound/guarded-client.ts';
import type { Platform } from '../../../platform/platform.ts';
import { attempt } from './dispatch/attempt.ts';
import { deliveryBody } from './write-deliveries.ts';

export interface WebhookRecord {
  id: string;
  boardId: string;
  url: string;
  verbs: string[];
  enabled: boolean;
  createdAt: Date;
  /** Deliveries that wait, and those that were given up. */
  pending: number;
  dead: number;
}

/** All webhooks, or those of a board, oldest first. */
export async function listAllWebhooks(
  { database }: Pick<Platform, 'database'>,
  boardId: string | undefined,
): Promise<WebhookRecord[]> {
  const { rows } = await sql<WebhookRecord>`
    SELECT id, board_id, url, verbs, enabled, created_at, coalesce(pending, 0) AS pending, coalesce(dead, 0) AS dead
    FROM webhook LEFT JOIN (
      SELECT webhook_id, count(*) FILTER (WHERE status = 'pending') AS pending,
        count(*) FILTER (WHERE status = 'dead') AS dead
      FROM webhook_delivery WHERE webhook_id IS NOT NULL AND status IN ('pending', 'dead') GROUP BY webhook_id
    ) AS counts ON webhook_id = id
    ${boardId === undefined ? sql`` : sql`WHERE board_id = ${boardId}`} ORDER BY id`.execute(database);
  return rows.map((row) => ({ ...row, pending: Number(row.pending), dead: Number(row.dead) }));
}

export interface WebhookTest {
  url: string;
  attempt: DeliveryAttempt;
  isTaken: boolean;
}

/** Sends a webhook a message that is signed like a delivery, once, and keeps nothing of it; undefined for an unknown id. */
export async function testWebhook(
  platform: Pick<Platform, 'clock' | 'config' | 'database' | 'secrets'>,
  id: string,
): Promise<WebhookTest | undefined> {
  const { clock, config, database } = platform;
  const webhook = await database.selectFrom('webhook').selectAll().where('id', '=', id).executeTakeFirst();
  if (!webhook) return undefined;
  const client = createGuardedClient({ allowPrivate: config.webhooks.privateTargets });
  const verb = 'WEBHOOK_TEST';
  const body = deliveryBody({
    verb,
    boardId: webhook.boardId,
    cardId: null,
    actorId: null,
    timestamp: new Date(clock.now()),
    metadata: { webhookId: id },
  });
  const message = { ...webhook, id: ulid(clock.now()), verb, body };
  const { record, outcome } = await attempt(platform, client, message).finally(() => client.close());
  const isTaken = outcome.status !== undefined && outcome.status >= 200 && outcome.status < 300;
  return { url: webhook.url, attempt: record, isTaken };
}
