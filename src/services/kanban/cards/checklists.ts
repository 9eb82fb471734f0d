// Checklists with their items, in one statement whatever their number.
import { sql } from 'kysely';
import { type Row, requireBoard } from '../access.ts';
import { notFound } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { type Page, type PageRequest, readLargeRows } from '../pages.ts';

export type Checklist = Row & { position: string; items: Row[] };

const ITEMS = sql<Row[]>`(
  SELECT coalesce(json_agg(json_build_object('id', i.id, 'checklistId', i.checklist_id, 'encText', i.enc_text,
    'done', i.done, 'position', i.position, 'assigneeId', i.assignee_id,
    'dueAt', to_char(i.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'createdAt', to_char(i.created_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
    'updatedAt', to_char(i.updated_at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    ORDER BY i.position, i.id), '[]')
  FROM checklist_item i WHERE i.checklist_id = checklist.id)`;

const BYTES = sql`
  octet_length(enc_title)
  + coalesce((SELECT sum(octet_length(enc_text)) FROM checklist_item WHERE checklist_id = checklist.id), 0)`;

/**
 * The checklists of a card with their items, by position. A checklist is never split.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a cursor that is none
 */
export async function listChecklists(
  { platform }: KanbanService,
  accountId: string,
  cardId: string,
  request: PageRequest,
): Promise<Page<Checklist>> {
  const { database } = platform;
  await requireBoard(database, accountId, { kind: 'card', id: cardId });
  const checklists = {
    columns: sql`checklist.*, ${ITEMS} AS items`,
    table: 'checklist',
    where: sql`card_id = ${cardId}`,
    order: ['position', 'id'],
    bytes: BYTES,
  };
  return readLargeRows(database, checklists, request);
}

/**
 * A checklist with its items.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export async function readChecklist(
  { platform }: KanbanService,
  accountId: string,
  id: string,
): Promise<Checklist> {
  const { database } = platform;
  await requireBoard(database, accountId, { kind: 'checklist', id });
  const { rows } = await sql<Checklist>`
    SELECT checklist.*, ${ITEMS} AS items FROM checklist WHERE id = ${id}`.execute(database);
  const [checklist] = rows;
  if (!checklist) throw notFound();
  return checklist;
}
