// Creating cards.
import { sql } from 'kysely';
import { createId } from '../../../platform/ids.ts';
import { changeBoard } from '../boards/board-change.ts';
import { insertObject } from '../boards/board-objects.ts';
import { commitAt, IS_WATCHED } from '../boards/commit-at.ts';
import { positionBetween, positionFor } from '../boards/positions.ts';
import { notFound } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { type CardFields, mergeFieldValues, requireMilestone } from './card-fields.ts';
import { type Card, cardSummary } from './cards.ts';

export type NewCard = CardFields & { encTitle: string };

/** What hangs on a card that was just made. */
const NOTHING_ON_IT = {
  labelIds: [],
  assigneeIds: [],
  customFieldValues: [],
  commentCount: 0,
  checklistItemCount: 0,
  checklistItemDoneCount: 0,
  attachmentCount: 0,
};

/**
 * Creates a card, last in its column.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a milestone or field of another board
 */
export async function createCard(
  service: KanbanService,
  accountId: string,
  columnId: string,
  input: NewCard,
): Promise<Card> {
  // What names other things needs them held.
  const isPlain = input.milestoneId == null && (input.customFieldValues ?? []).length === 0;
  const made = isPlain
    ? await commitAt(service, columnId, () => planCard(service, accountId, columnId, input))
    : undefined;
  return made ? made.result : createUnderLock(service, accountId, columnId, input);
}

async function planCard(
  { platform }: KanbanService,
  accountId: string,
  columnId: string,
  { encTitle, encDescription = null, startAt = null, dueAt = null }: NewCard,
) {
  const { rows } = await sql<{
    boardId: string;
    lastSeq: number;
    isWatched: boolean;
    lastPosition: string | null;
  }>`
    SELECT board.id AS board_id, board.last_seq, ${IS_WATCHED} AS is_watched,
      (SELECT max(position) FROM card WHERE card.column_id = board_column.id) AS last_position
    FROM board_column JOIN board ON board.id = board_column.board_id JOIN workspace_member USING (workspace_id)
    WHERE board_column.id = ${columnId} AND workspace_member.account_id = ${accountId}`.execute(
    platform.database,
  );
  const [column] = rows;
  if (!column) throw notFound();
  const { boardId, lastSeq, isWatched, lastPosition } = column;
  const now = new Date(platform.clock.now());
  const id = createId(now.getTime());
  const position = positionBetween(lastPosition, null, undefined);
  const shown = { id, boardId, columnId, encTitle, encDescription, position, startAt, dueAt };
  return {
    read: { boardId, lastSeq, isWatched },
    result: {
      ...shown,
      ...NOTHING_ON_IT,
      completed: false,
      archived: false,
      milestoneId: null,
      createdAt: now,
      updatedAt: now,
    },
    change: {
      accountId,
      now,
      verb: 'CARD_CREATED',
      cardId: id,
      metadata: { cardId: id },
      statement: sql`
        INSERT INTO card (id, board_id, column_id, enc_title, enc_description, position, start_at, due_at, created_at,
          updated_at)
        SELECT ${id}, ${boardId}, ${columnId}, ${encTitle}, ${encDescription}, ${position}, ${startAt}::timestamptz,
          ${dueAt}::timestamptz, ${now}::timestamptz, ${now}::timestamptz
        FROM counter`,
    },
  };
}

function createUnderLock(
  service: KanbanService,
  accountId: string,
  columnId: string,
  { customFieldValues = [], ...values }: NewCard,
): Promise<Card> {
  return changeBoard(service, accountId, { kind: 'column', id: columnId }, async (change) => {
    await requireMilestone(change, values.milestoneId);
    const among = { column: 'column_id', id: columnId } as const;
    const names = { before: 'beforeCardId', after: 'afterCardId' };
    const position = await positionFor(change.transaction, { table: 'card', among, names });
    const card = await insertObject(change, 'card', { ...values, columnId, position });
    await mergeFieldValues(change, card.id, customFieldValues);
    return () => cardSummary(change.transaction, card.id);
  });
}
