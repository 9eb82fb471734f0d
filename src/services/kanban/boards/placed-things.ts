// Columns, custom fields, checklists and their items: things with a place among their siblings.

import type { Row } from '../access.ts';
import type { KanbanService } from '../kanban-service.ts';
import { changeBoard } from './board-change.ts';
import { changeObject, deleteObject, insertObject, updateObject } from './board-objects.ts';
import type { BoardChange } from './change.ts';
import { type Place, positionFor } from './positions.ts';
import { requireMembers } from './references.ts';

export type PlacedKind = 'column' | 'customField' | 'checklist' | 'checklistItem';

/** Neighbours, and what else a body says. */
export interface Placing {
  beforeId?: string | null | undefined;
  afterId?: string | null | undefined;
  values: Record<string, unknown>;
}

interface Siblings {
  /** What they lie in. */
  parent: 'board' | 'card' | 'checklist';
  table: Place['table'];
  column: Place['among']['column'];
  /** Name of that column in a row. */
  property: 'boardId' | 'cardId' | 'checklistId';
  names: Place['names'];
}

const SIBLINGS: Record<PlacedKind, Siblings> = {
  column: {
    parent: 'board',
    table: 'board_column',
    column: 'board_id',
    property: 'boardId',
    names: { before: 'beforeColumnId', after: 'afterColumnId' },
  },
  customField: {
    parent: 'board',
    table: 'custom_field',
    column: 'board_id',
    property: 'boardId',
    names: { before: 'beforeFieldId', after: 'afterFieldId' },
  },
  checklist: {
    parent: 'card',
    table: 'checklist',
    column: 'card_id',
    property: 'cardId',
    names: { before: 'beforeChecklistId', after: 'afterChecklistId' },
  },
  checklistItem: {
    parent: 'checklist',
    table: 'checklist_item',
    column: 'checklist_id',
    property: 'checklistId',
    names: { before: 'beforeItemId', after: 'afterItemId' },
  },
};

/**
 * Creates a thing, last among its siblings unless neighbours are named.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for neighbours or an assignee from elsewhere
 */
export function createPlaced(
  service: KanbanService,
  accountId: string,
  kind: PlacedKind,
  parentId: string,
  { values, ...neighbours }: Placing,
): Promise<Row> {
  const { parent } = SIBLINGS[kind];
  return changeBoard(service, accountId, { kind: parent, id: parentId }, async (change, row) => {
    await requireAssignee(change, values);
    const position = await placeFor(change, kind, parentId, neighbours);
    const where =
      parent === 'card'
        ? { cardId: parentId }
        : parent === 'checklist'
          ? { checklistId: parentId, cardId: row.cardId }
          : {};
    return insertObject(change, kind, { ...values, ...where, position });
  });
}

/**
 * Changes a thing and its place. A column that moves says so in its activity.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for neighbours or an assignee from elsewhere
 */
export function changePlaced(
  service: KanbanService,
  accountId: string,
  { kind, id }: { kind: PlacedKind; id: string },
  { values, ...neighbours }: Placing,
): Promise<Row> {
  return changeBoard(service, accountId, { kind, id }, async (change, row) => {
    await requireAssignee(change, values);
    if (neighbours.beforeId == null && neighbours.afterId == null) {
      return changeObject(change, kind, row, values);
    }
    const { property } = SIBLINGS[kind];
    const moved = { id, position: String(row.position), isSibling: true };
    const position = await placeFor(change, kind, String(row[property]), neighbours, moved);
    if (kind !== 'column') return changeObject(change, kind, row, { ...values, position });
    const changed = await changeObject(change, kind, row, values);
    const { row: placed, changed: moves } = await updateObject(change, kind, changed, { position });
    if (moves.length > 0) change.record({ verb: 'COLUMN_MOVED', metadata: { columnId: id } });
    return placed;
  });
}

/**
 * Removes a thing with all that is in it.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export async function deletePlaced(
  service: KanbanService,
  accountId: string,
  target: { kind: PlacedKind; id: string },
): Promise<void> {
  await changeBoard(service, accountId, target, (change, row) => deleteObject(change, target.kind, row));
}

function placeFor(
  { transaction }: BoardChange,
  kind: PlacedKind,
  parentId: string,
  neighbours: Omit<Placing, 'values'>,
  moved?: Place['moved'],
): Promise<string> {
  const { table, column, names } = SIBLINGS[kind];
  return positionFor(transaction, {
    table,
    among: { column, id: parentId },
    ...(moved && { moved }),
    ...neighbours,
    names,
  });
}

async function requireAssignee(change: BoardChange, { assigneeId }: Record<string, unknown>): Promise<void> {
  if (typeof assigneeId === 'string') await requireMembers(change, [assigneeId], 'assigneeId');
}
