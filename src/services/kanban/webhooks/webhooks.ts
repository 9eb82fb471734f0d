// Webhooks as they are stored. Admins keep them; the secret is given out once, and lies sealed.
import { createToken } from '../../../platform/tokens.ts';
import { type Row, requireRole } from '../access.ts';
import { sealSecret } from '../accounts/sealed-secret.ts';
import { changeBoard } from '../boards/board-change.ts';
import { changeObject, deleteObject, insertObject, requireFewer } from '../boards/board-objects.ts';
import type { KanbanService } from '../kanban-service.ts';
import { wakeDispatcher } from './announce-deliveries.ts';

export interface WebhookValues {
  url?: string | undefined;
  /** Empty for all. */
  verbs?: string[] | undefined;
  enabled?: boolean | undefined;
}

// After a rotation deliveries are signed with both secrets for so long.
const PREVIOUS_SECRET_MS = 86_400_000;
/** Of a board. */
const MOST_WEBHOOKS = 100;

/**
 * Creates a webhook; answers its secret, this once.
 *
 * @throws {KanbanError} NOT_FOUND, FORBIDDEN, CONFLICT for one too many
 */
export function createWebhook(
  service: KanbanService,
  accountId: string,
  boardId: string,
  { url, verbs = [], enabled = true }: WebhookValues & { url: string },
): Promise<Row & { secret: string }> {
  const { secrets } = service.platform;
  const secret = createToken('whsec_');
  return changeBoard(service, accountId, { kind: 'board', id: boardId }, async (change) => {
    requireRole(change.role, 'admin');
    await requireFewer(change, 'webhook', { most: MOST_WEBHOOKS, name: 'webhooks' });
    const row = await insertObject(change, 'webhook', {
      url,
      verbs: [...new Set(verbs)],
      enabled,
      secret: sealSecret(secrets, secret),
    });
    return { ...row, secret };
  });
}

/**
 * Changes a webhook.
 *
 * @throws {KanbanError} NOT_FOUND, FORBIDDEN
 */
export async function changeWebhook(
  service: KanbanService,
  accountId: string,
  id: string,
  { verbs, ...values }: WebhookValues,
): Promise<Row> {
  const changed = await changeBoard(service, accountId, { kind: 'webhook', id }, (change, row) => {
    requireRole(change.role, 'admin');
    return changeObject<Row>(change, 'webhook', row, { ...values, verbs: verbs && [...new Set(verbs)] });
  });
  wakeDispatcher(service, { changed: id });
  return changed;
}

/**
 * Gives a webhook a new secret; answers it, this once. The old one signs too for a day.
 *
 * @throws {KanbanError} NOT_FOUND, FORBIDDEN
 */
export async function rotateWebhookSecret(
  service: KanbanService,
  accountId: string,
  id: string,
): Promise<Row & { secret: string }> {
  const { secrets } = service.platform;
  const secret = createToken('whsec_');
  const rotated = await changeBoard(service, accountId, { kind: 'webhook', id }, async (change, row) => {
    requireRole(change.role, 'admin');
    const { transaction, now } = change;
    const updated = await transaction
      .updateTable('webhook')
      .set({
        secret: sealSecret(secrets, secret),
        previousSecret: row.secret as Buffer,
        previousSecretUntil: new Date(now.getTime() + PREVIOUS_SECRET_MS),
        updatedAt: now,
      })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow();
    change.record({ verb: 'WEBHOOK_UPDATED', metadata: { webhookId: id, fields: ['secret'] } });
    return { ...(updated as unknown as Row), secret };
  });
  wakeDispatcher(service, { changed: id });
  return rotated;
}

/**
 * Removes a webhook, and with it what it was still to be told.
 *
 * @throws {KanbanError} NOT_FOUND, FORBIDDEN
 */
export async function deleteWebhook(service: KanbanService, accountId: string, id: string): Promise<void> {
  await changeBoard(service, accountId, { kind: 'webhook', id }, async (change, row) => {
    requireRole(change.role, 'admin');
    await deleteObject(change, 'webhook', row);
  });
  wakeDispatcher(service, { changed: id });
}
