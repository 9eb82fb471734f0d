// Moving cards: one row is rewritten, and of moves that race each finds the board as the one before left it.
import { sql } from 'kysely';
import type { Row } from '../access.ts';
import { changeBoard } from '../boards/board-change.ts';
import { updateObject } from '../boards/board-objects.ts';
import { commitAt, IS_WATCHED } from '../boards/commit-at.ts';
import { positionBetween, positionFor } from '../boards/positions.ts';
import { requireOnBoard } from '../boards/references.ts';
import { invalidField, notFound } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { type Card, cardSummary, SUMMARY } from './cards.ts';

export interface CardMove {
  toColumnId: string;
  beforeCardId?: string | null | undefined;
  afterCardId?: string | null | undefined;
}

type MovedCard = Card & { encDescription: string | null };

const NEIGHBOURS = { before: 'beforeCardId', after: 'afterCardId' };

/**
 * Moves a card.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a column of another board or a neighbour of another column
 */
export async function moveCard(
  service: KanbanService,
  accountId: string,
  cardId: string,
  move: CardMove,
): Promise<MovedCard> {
  const moved = await commitAt(service, cardId, () => planMove(service, accountId, cardId, move));
  // A board where others always come between is held instead.
  return moved ? moved.result : moveUnderLock(service, accountId, cardId, move);
}

interface Situation {
  lastSeq: number;
  /** Whether automations or webhooks of the board may want to hear of it. */
  isWatched: boolean;
  isColumnThere: boolean;
  /** Positions of the neighbours that were named; null for one that is not in the column. */
  beforePosition: string | null;
  afterPosition: string | null;
  /** Of the nearest others: the one below `beforePosition` (or the last of all), the one above `afterPosition`. */
  below: string | null;
  above: string | null;
}

async function planMove(
  { platform }: KanbanService,
  accountId: string,
  cardId: string,
  { toColumnId, beforeCardId, afterCardId }: CardMove,
) {
  const positionOf = (id: string | null | undefined) =>
    id == null
      ? sql`NULL`
      : sql`(SELECT position FROM card AS n WHERE n.id = ${id} AND n.column_id = ${toColumnId} AND n.id <> ${cardId})`;
  const others = sql`FROM card AS n WHERE n.column_id = ${toColumnId} AND n.id <> ${cardId}`;
  const [before, after] = [positionOf(beforeCardId), positionOf(afterCardId)];
  const { rows } = await sql<MovedCard & { situation: Situation }>`
    SELECT ${SUMMARY}, card.enc_description, json_build_object(
      'lastSeq', board.last_seq, 'isWatched', ${IS_WATCHED},
      'isColumnThere', EXISTS (SELECT FROM board_column AS c WHERE c.id = ${toColumnId} AND c.board_id = board.id),
      'beforePosition', ${before}, 'afterPosition', ${after},
      'below', ${
        beforeCardId == null
          ? sql`(SELECT max(n.position) ${others})`
          : sql`(SELECT max(n.position) ${others} AND n.position < ${before})`
      },
      'above', ${afterCardId == null ? sql`NULL` : sql`(SELECT min(n.position) ${others} AND n.position > ${after})`}
    ) AS situation
    FROM card JOIN board ON board.id = card.board_id JOIN workspace_member USING (workspace_id)
    WHERE card.id = ${cardId} AND workspace_member.account_id = ${accountId}`.execute(platform.database);
  const [found] = rows;
  if (!found) throw notFound();
  const { situation, ...card } = found;
  if (!situation.isColumnThere) throw invalidField('toColumnId', 'is not on this board');
  const { beforePosition, afterPosition, below, above, lastSeq, isWatched } = situation;
  for (const [id, position, name] of [
    [beforeCardId, beforePosition, NEIGHBOURS.before],
    [afterCardId, afterPosition, NEIGHBOURS.after],
  ] as const) {
    if (id != null && position === null) throw invalidField(name, 'is not one of its neighbours to be');
  }
  if (beforePosition !== null && afterPosition !== null && afterPosition >= beforePosition) {
    throw invalidField(NEIGHBOURS.after, `stands behind ${NEIGHBOURS.before}`);
  }
  const between =
    afterPosition !== null ? ([afterPosition, above] as const) : ([below, beforePosition] as const);
  const current = card.columnId === toColumnId ? card.position : undefined;
  const position = positionBetween(...between, current);
  const read = { boardId: card.boardId, lastSeq, isWatched };
  if (position === current) return { read, result: card };
  const now = new Date(platform.clock.now());
  return {
    read,
    result: { ...card, columnId: toColumnId, position, updatedAt: now },
    change: {
      accountId,
      now,
      verb: 'CARD_MOVED',
      cardId,
      metadata: { cardId, fromColumnId: card.columnId, toColumnId },
      statement: sql`UPDATE card SET column_id = ${toColumnId}, position = ${position}, updated_at = ${now}
        FROM counter WHERE card.id = ${cardId}`,
    },
  };
}

function moveUnderLock(
  service: KanbanService,
  accountId: string,
  cardId: string,
  { toColumnId, beforeCardId, afterCardId }: CardMove,
): Promise<MovedCard> {
  return changeBoard(service, accountId, { kind: 'card', id: cardId }, async (change, row: Row) => {
    const [fromColumnId, from] = [String(row.columnId), String(row.position)];
    await requireOnBoard(change, 'column', [toColumnId], 'toColumnId');
    const position = await positionFor(change.transaction, {
      table: 'card',
      among: { column: 'column_id', id: toColumnId },
      moved: { id: cardId, position: from, isSibling: toColumnId === fromColumnId },
      beforeId: beforeCardId,
      afterId: afterCardId,
      names: NEIGHBOURS,
    });
    const { changed } = await updateObject(change, 'card', row, { columnId: toColumnId, position });
    if (changed.length > 0) {
      change.record({ verb: 'CARD_MOVED', cardId, metadata: { cardId, fromColumnId, toColumnId } });
    }
    return () => cardSummary(change.transaction, cardId);
  });
}
