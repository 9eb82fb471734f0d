// One change of a board, one transaction: the change, its activity with the board's next numbers, and the
// notifications it makes are committed together or not at all. The board's row is locked first, so that changes of one
// board happen one after the other: positions stay in order, numbers have no gaps.
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../../platform/database/tables.ts';
import { createId } from '../../../platform/ids.ts';
import { type BoardAccess, lockTarget, type Row, type Target } from '../access.ts';

export type { Row } from '../access.ts';

import type { KanbanService } from '../kanban-service.ts';

export interface ActivityEntry {
  verb: string;
  cardId?: string | null | undefined;
  metadata?: Record<string, unknown>;
}

export interface Notice {
  accountId: string;
  kind: 'assignment' | 'mention';
  cardId: string;
  commentId?: string;
}

export interface BoardChange extends BoardAccess {
  transaction: Kysely<Tables>;
  accountId: string;
  now: Date;
  /** Writes an activity row when the change is done. */
  record(entry: ActivityEntry): void;
  /** Tells a member of something; nobody is told of what they did themselves. */
  notify(notice: Notice): void;
}

/**
 * Changes a board.
 *
 * @param target - the board, or the thing on it that the request names; `work` gets its row as it is now
 * @throws {KanbanError} NOT_FOUND, and what `work` throws
 */
export async function changeBoard<T>(
  { platform, turns }: KanbanService,
  accountId: string,
  target: Target,
  work: (change: BoardChange, row: Row) => Promise<T>,
): Promise<T> {
  const { clock, database } = platform;
  const run = async (transaction: Kysely<Tables>) => {
    const { row, ...access } = await lockTarget(transaction, accountId, target);
    turns.learn(target.id, access.boardId);
    const activity: ActivityEntry[] = [];
    const notices: Notice[] = [];
    const change: BoardChange = {
      ...access,
      transaction,
      accountId,
      now: new Date(clock.now()),
      record: (entry) => activity.push(entry),
      notify: (notice) => notices.push(notice),
    };
    const result = await work(change, row);
    await writeActivity(change, activity);
    await writeNotices(change, notices);
    return result;
  };
  return turns.take(target.id, () => database.transaction().execute(run));
}

async function writeActivity(
  { transaction, boardId, accountId, now }: BoardChange,
  entries: readonly ActivityEntry[],
): Promise<void> {
  if (entries.length === 0) return;
  const ids = entries.map(() => createId(now.getTime()));
  await sql`
    WITH counter AS (
      UPDATE board SET last_seq = last_seq + ${entries.length} WHERE id = ${boardId} RETURNING last_seq)
    INSERT INTO activity (id, board_id, seq, verb, card_id, actor_id, "timestamp", metadata)
    SELECT entry.id, ${boardId}, last_seq - ${entries.length} + entry.number, verb, card_id, ${accountId}, ${now},
      metadata::jsonb
    FROM counter, unnest(
      ${ids}::text[], ${entries.map(({ verb }) => verb)}::text[], ${entries.map(({ cardId }) => cardId ?? null)}::text[],
      ${entries.map(({ metadata }) => JSON.stringify(metadata ?? {}))}::text[]
    ) WITH ORDINALITY AS entry (id, verb, card_id, metadata, number)`.execute(transaction);
}

async function writeNotices(
  { transaction, boardId, accountId, now }: BoardChange,
  notices: readonly Notice[],
): Promise<void> {
  const others = notices.filter((notice) => notice.accountId !== accountId);
  if (others.length === 0) return;
  await transaction
    .insertInto('notification')
    .values(
      others.map((notice) => ({
        id: createId(now.getTime()),
        boardId,
        actorId: accountId,
        createdAt: now,
        commentId: null,
        ...notice,
      })),
    )
    .execute();
}
