// The actions of automations. Each changes a card if there is anything to change, and leaves alone what is gone.
import { sql } from 'kysely';
import { updateObject } from '../boards/board-objects.ts';
import type { BoardChange } from '../boards/change.ts';
import { positionFor } from '../boards/positions.ts';
import { recordCardChanges, type StoredCard } from '../cards/card-activity.ts';
import type { Action } from './rules.ts';

/** Does to a card what an action says; nothing when the card, or what the action names, is not there any more. */
export async function perform(
  change: BoardChange,
  cardId: string | null | undefined,
  action: Action,
): Promise<void> {
  const card = cardId == null ? undefined : await findCard(change, cardId);
  if (!card) return;
  switch (action.type) {
    case 'MOVE_CARD':
      return move(change, card, action.toColumnId);
    case 'ADD_LABEL':
    case 'REMOVE_LABEL':
      return label(change, card.id, action);
    case 'ASSIGN':
    case 'UNASSIGN':
      return assignment(change, card.id, action);
    case 'SET_MILESTONE':
      if (action.milestoneId !== null && !(await isOnBoard(change, 'milestone', action.milestoneId))) return;
      return set(change, card, { milestoneId: action.milestoneId });
    case 'SET_COMPLETED':
      return set(change, card, { completed: action.completed });
    case 'ARCHIVE':
      return set(change, card, { archived: true });
  }
}

async function findCard({ transaction, boardId }: BoardChange, id: string): Promise<StoredCard | undefined> {
  const row = await transaction
    .selectFrom('card')
    .selectAll()
    .where('id', '=', id)
    .where('boardId', '=', boardId)
    .executeTakeFirst();
  return row as StoredCard | undefined;
}

async function isOnBoard(
  { transaction, boardId }: BoardChange,
  table: 'boardColumn' | 'label' | 'milestone',
  id: string,
): Promise<boolean> {
  const row = await transaction
    .selectFrom(table)
    .select('id')
    .where('id', '=', id)
    .where('boardId', '=', boardId)
    .executeTakeFirst();
  return row !== undefined;
}

async function move(change: BoardChange, card: StoredCard, toColumnId: string): Promise<void> {
  const { columnId: fromColumnId, id: cardId } = card;
  if (fromColumnId === toColumnId || !(await isOnBoard(change, 'boardColumn', toColumnId))) return;
  const position = await positionFor(change.transaction, {
    table: 'card',
    among: { column: 'column_id', id: toColumnId },
    names: { before: 'beforeCardId', after: 'afterCardId' },
  });
  await updateObject(change, 'card', card, { columnId: toColumnId, position });
  change.record({ verb: 'CARD_MOVED', cardId, metadata: { cardId, fromColumnId, toColumnId } });
}

async function label(
  change: BoardChange,
  cardId: string,
  { type, labelId }: { type: 'ADD_LABEL' | 'REMOVE_LABEL'; labelId: string },
): Promise<void> {
  const { transaction, boardId } = change;
  const { numAffectedRows = 0n } =
    type === 'ADD_LABEL'
      ? await sql`
          INSERT INTO card_label (card_id, label_id)
          SELECT ${cardId}, id FROM label WHERE id = ${labelId} AND board_id = ${boardId}
          ON CONFLICT DO NOTHING`.execute(transaction)
      : await sql`DELETE FROM card_label WHERE card_id = ${cardId} AND label_id = ${labelId}`.execute(
          transaction,
        );
  if (numAffectedRows === 0n) return;
  const verb = type === 'ADD_LABEL' ? 'CARD_LABELED' : 'CARD_UNLABELED';
  change.record({ verb, cardId, metadata: { cardId, labelId } });
}

async function assignment(
  change: BoardChange,
  cardId: string,
  { type, userId }: { type: 'ASSIGN' | 'UNASSIGN'; userId: string },
): Promise<void> {
  const { transaction, workspaceId } = change;
  const { numAffectedRows = 0n } =
    type === 'ASSIGN'
      ? await sql`
          INSERT INTO card_assignee (card_id, account_id)
          SELECT ${cardId}, account_id FROM workspace_member
          WHERE workspace_id = ${workspaceId} AND account_id = ${userId}
          ON CONFLICT DO NOTHING`.execute(transaction)
      : await sql`DELETE FROM card_assignee WHERE card_id = ${cardId} AND account_id = ${userId}`.execute(
          transaction,
        );
  if (numAffectedRows === 0n) return;
  const verb = type === 'ASSIGN' ? 'CARD_ASSIGNED' : 'CARD_UNASSIGNED';
  change.record({ verb, cardId, metadata: { cardId, userId } });
  if (type === 'ASSIGN') change.notify({ accountId: userId, kind: 'assignment', cardId });
}

async function set(
  change: BoardChange,
  card: StoredCard,
  values: { milestoneId?: string | null; completed?: boolean; archived?: boolean },
): Promise<void> {
  const { changed } = await updateObject(change, 'card', card, values);
  recordCardChanges(change, card, { values, changed, fieldsChanged: false });
}
