// Deliveries as members of a workspace see them.
import { type Kysely, sql } from 'kysely';
import type { DeliveryAttempt, DeliveryStatus } from '../../../platform/database/kanban-tables.ts';
import type { Tables } from '../../../platform/database/tables.ts';
import { requireBoard, requireRole } from '../access.ts';
import { KanbanError, notFound } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { cursorKey, type Page, type PageRequest, pageOf } from '../pages.ts';
import { wakeDispatcher } from './announce-deliveries.ts';
import { AT_ONCE } from './write-deliveries.ts';

export interface Delivery {
  id: string;
  webhookId: string | null;
  verb: string;
  status: DeliveryStatus;
  attempts: DeliveryAttempt[];
  /** Of a pending one. */
  nextAttemptAt: Date | null;
  body: string;
  createdAt: Date;
}

/** What makes a delivery of a row. */
export const DELIVERY = sql`
  id, webhook_id, verb, status, attempts, body, created_at,
  CASE WHEN status = 'pending' AND due_at > 'epoch' THEN due_at WHEN status = 'pending' THEN created_at END
    AS next_attempt_at`;

/**
 * The deliveries of a webhook, newest first.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a cursor that is none
 */
export async function listDeliveries(
  { platform }: KanbanService,
  accountId: string,
  webhookId: string,
  request: PageRequest,
): Promise<Page<Delivery>> {
  const { database } = platform;
  await requireBoard(database, accountId, { kind: 'webhook', id: webhookId });
  const before = cursorKey(request, 1);
  const { rows } = await sql<Delivery>`
    SELECT ${DELIVERY} FROM webhook_delivery
    WHERE webhook_id = ${webhookId} ${before ? sql`AND id < ${before[0]}` : sql``}
    ORDER BY id DESC LIMIT ${request.limit + 1}`.execute(database);
  return pageOf(rows, request, ({ id }) => [id]);
}

/**
 * Makes a delivery pending again, with its schedule from the start.
 *
 * @throws {KanbanError} NOT_FOUND, FORBIDDEN, CONFLICT for one that is pending
 */
export async function requeueDelivery(
  service: KanbanService,
  accountId: string,
  deliveryId: string,
): Promise<Delivery> {
  const { database } = service.platform;
  const found = await database
    .selectFrom('webhookDelivery')
    .innerJoin('webhook', 'webhook.id', 'webhookDelivery.webhookId')
    .innerJoin('board', 'board.id', 'webhook.boardId')
    .innerJoin('workspaceMember', 'workspaceMember.workspaceId', 'board.workspaceId')
    .select('workspaceMember.role')
    .where('webhookDelivery.id', '=', deliveryId)
    .where('workspaceMember.accountId', '=', accountId)
    .executeTakeFirst();
  if (!found) throw notFound();
  requireRole(found.role, 'admin');
  const [delivery] = await requeue(database, [deliveryId]);
  if (!delivery) throw new KanbanError('CONFLICT', 'It is pending already.');
  wakeDispatcher(service);
  return delivery;
}

/** Makes deliveries pending again that are not; answers those that were changed. */
export async function requeue(database: Kysely<Tables>, ids: readonly string[]): Promise<Delivery[]> {
  const { rows } = await sql<Delivery>`
    UPDATE webhook_delivery SET status = 'pending', step = 0, first_attempt_at = NULL, due_at = ${AT_ONCE},
      finished_at = NULL
    WHERE id = ANY(${ids}) AND status <> 'pending' RETURNING ${DELIVERY}`.execute(database);
  return rows;
}
