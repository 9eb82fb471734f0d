// Which board a room of the relay belongs to, and whether somebody may be in it.
import { ID_PATTERN } from '../../../platform/ids.ts';
import { requireBoard } from '../access.ts';
import { notFound } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';

/**
 * The board of a room: `card:<id>` carries the document of a card, `board:<id>` presence (kanban-api.md, relay).
 *
 * @throws {KanbanError} NOT_FOUND for what is no room, and for a board of others
 */
export async function boardOfRoom(
  { platform }: KanbanService,
  accountId: string,
  room: string,
): Promise<string> {
  const [kind, id = ''] = room.split(':', 2);
  if ((kind !== 'card' && kind !== 'board') || room !== `${kind}:${id}` || !ID_PATTERN.test(id))
    throw notFound();
  const { boardId } = await requireBoard(platform.database, accountId, { kind, id });
  return boardId;
}
