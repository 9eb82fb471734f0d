// Attachments: ciphertext of files, in the database like everything else.

import { sql } from 'kysely';
import { type Row, requireBoard } from '../access.ts';
import { changeBoard } from '../boards/board-change.ts';
import { deleteObject, insertObject } from '../boards/board-objects.ts';
import { KanbanError, notFound } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { type Page, type PageRequest, readLargeRows } from '../pages.ts';

const WITHOUT_CONTENT = ['id', 'boardId', 'cardId', 'uploaderId', 'encName', 'sizeBytes', 'createdAt'];

/**
 * Adds a file to a card.
 *
 * @throws {KanbanError} NOT_FOUND, PAYLOAD_TOO_LARGE
 */
export async function addAttachment(
  service: KanbanService,
  accountId: string,
  cardId: string,
  { encName, encContent }: { encName: string; encContent: string },
): Promise<Row> {
  const sizeBytes = ciphertextBytes(encContent);
  const most = service.platform.config.kanban.attachmentMaxBytes;
  if (sizeBytes > most) {
    throw new KanbanError(
      'PAYLOAD_TOO_LARGE',
      `The content has ${sizeBytes} bytes; at most ${most} are taken.`,
    );
  }
  const values = { cardId, uploaderId: accountId, encName, encContent, sizeBytes };
  return changeBoard(service, accountId, { kind: 'card', id: cardId }, (change) =>
    insertObject(change, 'attachment', values, WITHOUT_CONTENT),
  );
}

/** Bytes of the ciphertext of `v1.<nonce>.<ciphertext>`. */
export function ciphertextBytes(encrypted: string): number {
  return Math.floor(((encrypted.length - encrypted.lastIndexOf('.') - 1) * 3) / 4);
}

/**
 * The attachments of a card without their content, oldest first.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a cursor that is none
 */
export async function listAttachments(
  { platform }: KanbanService,
  accountId: string,
  cardId: string,
  request: PageRequest,
): Promise<Page<Record<string, unknown> & { id: string }>> {
  const { database } = platform;
  await requireBoard(database, accountId, { kind: 'card', id: cardId });
  const attachments = {
    columns: sql.join(WITHOUT_CONTENT.map((name) => sql.ref(`attachment.${name}`))),
    table: 'attachment',
    where: sql`card_id = ${cardId}`,
    order: ['id'],
    bytes: sql`octet_length(enc_name)`,
  };
  return readLargeRows(database, attachments, request);
}

/**
 * An attachment with its content.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export async function readAttachment(
  { platform }: KanbanService,
  accountId: string,
  id: string,
): Promise<Record<string, unknown>> {
  await requireBoard(platform.database, accountId, { kind: 'attachment', id });
  return platform.database
    .selectFrom('attachment')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow(() => notFound());
}

/**
 * Removes an attachment.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export async function deleteAttachment(service: KanbanService, accountId: string, id: string): Promise<void> {
  await changeBoard(service, accountId, { kind: 'attachment', id }, (change, row) =>
    deleteObject(change, 'attachment', row),
  );
}
