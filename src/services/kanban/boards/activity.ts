// What happened on a board, newest first: ids and plain metadata, never ciphertext.
import { requireBoard } from '../access.ts';
import type { KanbanService } from '../kanban-service.ts';
import { cursorKey, numberIn, type Page, type PageRequest, pageOf } from '../pages.ts';

export interface Activity {
  id: string;
  seq: number;
  verb: string;
  boardId: string;
  cardId: string | null;
  actorId: string | null;
  timestamp: Date;
  metadata: Record<string, unknown>;
}

/**
 * The activity of a board.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a cursor that is none
 */
export async function listActivity(
  { platform }: KanbanService,
  accountId: string,
  boardId: string,
  request: PageRequest,
): Promise<Page<Activity>> {
  const { database } = platform;
  await requireBoard(database, accountId, { kind: 'board', id: boardId });
  const key = cursorKey(request, 1);
  const rows = await database
    .selectFrom('activity')
    .selectAll()
    .where('boardId', '=', boardId)
    .where('seq', '<', key ? numberIn(key[0]) : Number.MAX_SAFE_INTEGER)
    .orderBy('seq', 'desc')
    .limit(request.limit + 1)
    .execute();
  return pageOf(rows, request, ({ seq }) => [String(seq)]);
}
