// A change of a board in one statement: it is made if nothing else happened on the board since it was read. Every
// change grows the board's number, so a number that still stands means that all that was read still holds; but for the
// membership, which is held. Boards with automations or webhooks are changed under their lock: what these make of a
// change takes more than a statement.
import { type RawBuilder, sql } from 'kysely';
import { createId } from '../../../platform/ids.ts';
import type { KanbanService } from '../kanban-service.ts';
import { announceChange } from '../live/ticks.ts';
import type { Activity } from './activity.ts';

export interface ReadBoard {
  boardId: string;
  /** The board's number when it was read. */
  lastSeq: number;
  /** Whether anything on the board may react to the change. */
  isWatched: boolean;
}

/** Reads `isWatched`, in a statement that reads `board`. */
export const IS_WATCHED = sql<boolean>`(EXISTS (SELECT FROM automation WHERE board_id = board.id)
  OR EXISTS (SELECT FROM webhook WHERE board_id = board.id))`;

export interface SingleChange {
  accountId: string;
  now: Date;
  verb: string;
  cardId: string;
  metadata: Record<string, unknown>;
  /** Changes rows; selects from `counter`, which is empty when the board or the membership has changed meanwhile. */
  statement: RawBuilder<unknown>;
}

const ATTEMPTS = 3;

/**
 * Tries a change until nobody came between reading and writing.
 *
 * @param attempt - reads, and answers what is to be written with the result; nothing to write when there is nothing
 * @returns the result; undefined when others came between each time, or the board is watched
 */
export async function commitAt<T>(
  service: KanbanService,
  targetId: string,
  attempt: () => Promise<{ read: ReadBoard; change?: SingleChange; result: T }>,
): Promise<{ result: T } | undefined> {
  const { turns } = service;
  let isWatched = false;
  for (let time = 0; time < ATTEMPTS && !isWatched; time++) {
    const done = await turns.take(targetId, async () => {
      const { read, change, result } = await attempt();
      turns.learn(targetId, read.boardId);
      isWatched = read.isWatched;
      if (!change) return { result };
      if (isWatched) return undefined;
      const activity = await write(service.platform.database, read, change);
      if (!activity) return undefined;
      announceChange(service, read.boardId, { activity: [activity], toldWebhooks: [] });
      return { result };
    });
    if (done) return done;
  }
  return undefined;
}

async function write(
  database: KanbanService['platform']['database'],
  { boardId, lastSeq }: ReadBoard,
  { accountId, now, verb, cardId, metadata, statement }: SingleChange,
): Promise<Activity | undefined> {
  const id = createId(now.getTime());
  const { rows } = await sql<{ seq: number }>`
    WITH member AS (
      SELECT 1 FROM workspace_member JOIN board USING (workspace_id)
      WHERE board.id = ${boardId} AND account_id = ${accountId} FOR KEY SHARE OF workspace_member
    ), counter AS (
      UPDATE board SET last_seq = last_seq + 1 FROM member WHERE id = ${boardId} AND last_seq = ${lastSeq}
      RETURNING last_seq
    ), changed AS (${statement})
    INSERT INTO activity (id, board_id, seq, verb, card_id, actor_id, "timestamp", metadata)
    SELECT ${id}, ${boardId}, last_seq, ${verb}, ${cardId}, ${accountId}, ${now}, ${JSON.stringify(metadata)}::jsonb
    FROM counter RETURNING seq`.execute(database);
  const [row] = rows;
  return row && { id, seq: row.seq, verb, boardId, cardId, actorId: accountId, timestamp: now, metadata };
}
