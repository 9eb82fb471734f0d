// Lists of things on a board: by position, or in the order of their creation.
import { type Kysely, sql } from 'kysely';
import { type Row, requireBoard, type Target } from '../access.ts';
import type { KanbanService } from '../kanban-service.ts';
import { cursorKey, type Page, type PageRequest, pageOf } from '../pages.ts';
import { type ObjectKind, RESOURCES } from '../resources.ts';

export interface ListRequest extends PageRequest {
  /** Whose: the board or card, and the column that names it. */
  of: Target & { column: 'boardId' | 'cardId' };
  /** Whether archived ones are among them, where there are such. */
  withArchived?: boolean;
}

const BY_POSITION = new Set<ObjectKind>(['column', 'customField', 'checklist', 'checklistItem']);
const WITH_ARCHIVE = new Set<ObjectKind>(['milestone']);

/**
 * Lists what a member of the workspace may read.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a cursor that is none
 */
export async function listObjects<T extends Row>(
  { platform }: KanbanService,
  accountId: string,
  kind: ObjectKind,
  request: ListRequest,
): Promise<Page<T>> {
  const { database } = platform;
  await requireBoard(database, accountId, request.of);
  const order = BY_POSITION.has(kind) ? (['position', 'id'] as const) : (['id'] as const);
  const after = cursorKey(request, order.length);
  const columns = order.map((name) => sql.ref(name));
  let query = (database as unknown as Kysely<Record<string, Record<string, unknown>>>)
    .selectFrom(RESOURCES[kind].table)
    .selectAll()
    .where(request.of.column, '=', request.of.id)
    .limit(request.limit + 1);
  for (const name of order) query = query.orderBy(name);
  if (WITH_ARCHIVE.has(kind) && !request.withArchived) query = query.where('archived', '=', false);
  if (after) query = query.where(sql<boolean>`(${sql.join(columns)}) > (${sql.join(after)})`);
  const rows = (await query.execute()) as unknown as T[];
  return pageOf(rows, request, (row) => order.map((name) => String((row as Row)[name])));
}
