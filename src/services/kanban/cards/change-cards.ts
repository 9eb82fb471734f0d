// Changing and removing cards.

import { changeBoard } from '../boards/board-change.ts';
import { deleteObject, updateObject } from '../boards/board-objects.ts';
import type { BoardChange } from '../boards/change.ts';
import type { KanbanService } from '../kanban-service.ts';
import { recordCardChanges, type StoredCard } from './card-activity.ts';
import { type CardFields, mergeFieldValues, requireMilestone } from './card-fields.ts';
import { type Card, cardSummary } from './cards.ts';

export type CardChanges = CardFields & {
  encTitle?: string | undefined;
  completed?: boolean | undefined;
  archived?: boolean | undefined;
};

/**
 * Changes a card: one activity row for each kind of change, none for what changes nothing.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a milestone or field of another board
 */
export async function changeCard(
  service: KanbanService,
  accountId: string,
  cardId: string,
  { customFieldValues = [], ...values }: CardChanges,
): Promise<Card> {
  return changeBoard(service, accountId, { kind: 'card', id: cardId }, async (change, row) => {
    const card = row as StoredCard;
    await requireMilestone(change, values.milestoneId);
    const { changed } = await updateObject(change, 'card', card, values);
    const fieldsChanged = await mergeFieldValues(change, cardId, customFieldValues);
    if (changed.length === 0 && fieldsChanged) await touch(change, cardId);
    recordCardChanges(change, card, { values, changed, fieldsChanged });
    return () => cardSummary(change.transaction, cardId);
  });
}

/**
 * Sets the milestone of a card, or clears it.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a milestone of another board
 */
export async function setMilestone(
  service: KanbanService,
  accountId: string,
  cardId: string,
  milestoneId: string | null,
): Promise<Card> {
  return changeCard(service, accountId, cardId, { milestoneId });
}

/**
 * Removes a card with all that hangs on it.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export async function deleteCard(service: KanbanService, accountId: string, cardId: string): Promise<void> {
  await changeBoard(service, accountId, { kind: 'card', id: cardId }, (change, row) =>
    deleteObject(change, 'card', row),
  );
}

async function touch({ transaction, now }: BoardChange, cardId: string): Promise<void> {
  await transaction.updateTable('card').set({ updatedAt: now }).where('id', '=', cardId).execute();
}
