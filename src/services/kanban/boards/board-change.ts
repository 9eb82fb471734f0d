// One change of a board, one transaction: the change, what it sets off, its activity with the board's next numbers, the
// notifications and the webhook deliveries it makes are committed together or not at all. The board's row is locked
// first, so that changes of one board happen one after the other: positions stay in order, numbers have no gaps.
import type { Kysely } from 'kysely';
import { inTransaction } from '../../../platform/database/in-transaction.ts';
import type { Tables } from '../../../platform/database/tables.ts';
import { lockTarget, type Row, type Target } from '../access.ts';
import type { KanbanService } from '../kanban-service.ts';
import { announceChange } from '../live/ticks.ts';
import type { ActivityEntry, BoardChange, Notice } from './change.ts';
import { recordAll } from './record-activity.ts';

/**
 * Changes a board.
 *
 * @param target - the board, or the thing on it that the request names
 * @param work - gets the row of the target as it is now; answers the result, or a function that reads it once
 * everything which the change sets off has happened; runs again when PostgreSQL ended the transaction for another
 * @throws {KanbanError} NOT_FOUND, and what `work` throws
 */
export async function changeBoard<T>(
  service: KanbanService,
  accountId: string,
  target: Target,
  work: (change: BoardChange, row: Row) => Promise<T | (() => Promise<T>)>,
): Promise<T> {
  const { platform, turns } = service;
  const run = async (transaction: Kysely<Tables>) => {
    const { row, ...access } = await lockTarget(transaction, accountId, target);
    turns.learn(target.id, access.boardId);
    const activity: ActivityEntry[] = [];
    const notices: Notice[] = [];
    const change: BoardChange = {
      ...access,
      transaction,
      accountId,
      now: new Date(platform.clock.now()),
      record: (entry) => activity.push(entry),
      notify: (notice) => notices.push(notice),
    };
    const answer = await work(change, row);
    const recorded = await recordAll(change, activity, notices);
    const result = typeof answer === 'function' ? await (answer as () => Promise<T>)() : answer;
    return { result, recorded, boardId: access.boardId };
  };
  return turns.take(target.id, async () => {
    const { result, recorded, boardId } = await inTransaction(platform.database, run);
    announceChange(service, boardId, recorded);
    return result;
  });
}
