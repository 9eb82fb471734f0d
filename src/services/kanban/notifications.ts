// What somebody was told of: assignments and mentions.
import type { Kysely } from 'kysely';
import type { Tables } from '../../platform/database/tables.ts';
import type { KanbanService } from './kanban-service.ts';
import { cursorKey, type Page, type PageRequest, pageOf } from './pages.ts';

export interface Notification {
  id: string;
  kind: 'assignment' | 'mention';
  boardId: string;
  cardId: string;
  commentId: string | null;
  actorId: string | null;
  createdAt: Date;
  readAt: Date | null;
}

/** The notifications of an account, newest first. */
export async function listNotifications(
  { platform }: KanbanService,
  accountId: string,
  request: PageRequest,
): Promise<Page<Notification>> {
  const before = cursorKey(request, 1);
  let query = platform.database
    .selectFrom('notification')
    .select(['id', 'kind', 'boardId', 'cardId', 'commentId', 'actorId', 'createdAt', 'readAt'])
    .where('accountId', '=', accountId)
    .orderBy('id', 'desc')
    .limit(request.limit + 1);
  if (before) query = query.where('id', '<', before[0] ?? '');
  return pageOf(await query.execute(), request, ({ id }) => [id]);
}

/**
 * Marks notifications as read.
 *
 * @param ids - which; all that are unread when left out
 * @returns how many were unread
 */
export async function markRead(
  { platform }: KanbanService,
  accountId: string,
  ids?: readonly string[],
): Promise<number> {
  let query = platform.database
    .updateTable('notification')
    .set({ readAt: new Date(platform.clock.now()) })
    .where('accountId', '=', accountId)
    .where('readAt', 'is', null);
  if (ids) query = ids.length === 0 ? query.where('id', 'is', null) : query.where('id', 'in', ids);
  const { numUpdatedRows } = await query.executeTakeFirst();
  return Number(numUpdatedRows);
}

/** Forgets notifications from before a moment, at most so many. Returns how many. */
export async function pruneNotifications(
  database: Kysely<Tables>,
  before: Date,
  most: number,
): Promise<number> {
  const { numDeletedRows } = await database
    .deleteFrom('notification')
    // Ids are in the order of time: the old ones are found where the index begins.
    .where('id', 'in', (query) =>
      query.selectFrom('notification').select('id').where('createdAt', '<', before).orderBy('id').limit(most),
    )
    .executeTakeFirst();
  return Number(numDeletedRows);
}
