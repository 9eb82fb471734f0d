// What ties a card to labels and people. Tying what is tied, and untying what is not, change nothing.
import { changeBoard } from '../boards/board-change.ts';
import { requireMembers, requireOnBoard } from '../boards/references.ts';
import type { KanbanService } from '../kanban-service.ts';
import { type Card, cardSummary } from './cards.ts';

/**
 * Attaches a label.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a label of another board
 */
export async function attachLabel(
  service: KanbanService,
  accountId: string,
  cardId: string,
  labelId: string,
): Promise<Card> {
  return changeBoard(service, accountId, { kind: 'card', id: cardId }, async (change) => {
    await requireOnBoard(change, 'label', [labelId], 'labelId');
    const { numInsertedOrUpdatedRows } = await change.transaction
      .insertInto('cardLabel')
      .values({ cardId, labelId })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows)
      change.record({ verb: 'CARD_LABELED', cardId, metadata: { cardId, labelId } });
    return () => cardSummary(change.transaction, cardId);
  });
}

/**
 * Detaches a label.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a label of another board
 */
export async function detachLabel(
  service: KanbanService,
  accountId: string,
  cardId: string,
  labelId: string,
): Promise<void> {
  await changeBoard(service, accountId, { kind: 'card', id: cardId }, async (change) => {
    await requireOnBoard(change, 'label', [labelId], 'labelId');
    const { numDeletedRows } = await change.transaction
      .deleteFrom('cardLabel')
      .where('cardId', '=', cardId)
      .where('labelId', '=', labelId)
      .executeTakeFirst();
    if (numDeletedRows > 0n) change.record({ verb: 'CARD_UNLABELED', cardId, metadata: { cardId, labelId } });
  });
}

/**
 * Assigns a member of the workspace, who is told unless they did it themselves.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for who is no member
 */
export async function assign(
  service: KanbanService,
  accountId: string,
  cardId: string,
  userId: string,
): Promise<Card> {
  return changeBoard(service, accountId, { kind: 'card', id: cardId }, async (change) => {
    await requireMembers(change, [userId], 'userId');
    const { numInsertedOrUpdatedRows } = await change.transaction
      .insertInto('cardAssignee')
      .values({ cardId, accountId: userId })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (numInsertedOrUpdatedRows) {
      change.record({ verb: 'CARD_ASSIGNED', cardId, metadata: { cardId, userId } });
      change.notify({ accountId: userId, kind: 'assignment', cardId });
    }
    return () => cardSummary(change.transaction, cardId);
  });
}

/**
 * Unassigns somebody; who was not assigned, member or not, changes nothing.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export async function unassign(
  service: KanbanService,
  accountId: string,
  cardId: string,
  userId: string,
): Promise<void> {
  await changeBoard(service, accountId, { kind: 'card', id: cardId }, async (change) => {
    const { numDeletedRows } = await change.transaction
      .deleteFrom('cardAssignee')
      .where('cardId', '=', cardId)
      .where('accountId', '=', userId)
      .executeTakeFirst();
    if (numDeletedRows > 0n) change.record({ verb: 'CARD_UNASSIGNED', cardId, metadata: { cardId, userId } });
  });
}
