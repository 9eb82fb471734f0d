// A change of a board in one statement: it is made if nothing else happened on the board since it was read. Every
// change grows the board's number, so a number that still stands means that all that was read still holds.
import { type RawBuilder, sql } from 'kysely';
import { createId } from '../../../platform/ids.ts';
import type { KanbanService } from '../kanban-service.ts';

export interface ReadBoard {
  boardId: string;
  /** The board's number when it was read. */
  lastSeq: number;
}

export interface SingleChange {
  accountId: string;
  now: Date;
  verb: string;
  cardId: string;
  metadata: Record<string, unknown>;
  /** Changes rows; selects from `counter`, which is empty when the board has changed meanwhile. */
  statement: RawBuilder<unknown>;
}

const ATTEMPTS = 3;

/**
 * Tries a change until nobody came between reading and writing.
 *
 * @param attempt - reads, and answers what is to be written with the result; nothing to write when there is nothing
 * @returns the result; undefined when others came between each time
 */
export async function commitAt<T>(
  { platform, turns }: KanbanService,
  targetId: string,
  attempt: () => Promise<{ read: ReadBoard; change?: SingleChange; result: T }>,
): Promise<{ result: T } | undefined> {
  for (let time = 0; time < ATTEMPTS; time++) {
    const done = await turns.take(targetId, async () => {
      const { read, change, result } = await attempt();
      turns.learn(targetId, read.boardId);
      const isDone = !change || (await write(platform.database, read, change));
      return isDone ? { result } : undefined;
    });
    if (done) return done;
  }
  return undefined;
}

async function write(
  database: KanbanService['platform']['database'],
  { boardId, lastSeq }: ReadBoard,
  { accountId, now, verb, cardId, metadata, statement }: SingleChange,
): Promise<boolean> {
  const { rows } = await sql`
    WITH counter AS (
      UPDATE board SET last_seq = last_seq + 1 WHERE id = ${boardId} AND last_seq = ${lastSeq} RETURNING last_seq
    ), changed AS (${statement})
    INSERT INTO activity (id, board_id, seq, verb, card_id, actor_id, "timestamp", metadata)
    SELECT ${createId(now.getTime())}, ${boardId}, last_seq, ${verb}, ${cardId}, ${accountId}, ${now},
      ${JSON.stringify(metadata)}::jsonb
    FROM counter RETURNING seq`.execute(database);
  return rows.length > 0;
}
