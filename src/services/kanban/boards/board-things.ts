// Labels, milestones, card templates: what a board owns and nothing else decides about.

import type { Row } from '../access.ts';
import type { KanbanService } from '../kanban-service.ts';
import { changeBoard } from './board-change.ts';
import { changeObject, deleteObject, insertObject } from './board-objects.ts';

export type BoardThingKind = 'label' | 'milestone' | 'cardTemplate';

/**
 * Creates a thing on a board.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export function createBoardThing(
  service: KanbanService,
  accountId: string,
  boardId: string,
  kind: BoardThingKind,
  values: Record<string, unknown>,
): Promise<Row> {
  return changeBoard(service, accountId, { kind: 'board', id: boardId }, (change) =>
    insertObject(change, kind, values),
  );
}

/**
 * Changes a thing on a board.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export function changeBoardThing(
  service: KanbanService,
  accountId: string,
  target: { kind: BoardThingKind; id: string },
  values: Record<string, unknown>,
): Promise<Row> {
  return changeBoard(service, accountId, target, (change, row) =>
    changeObject(change, target.kind, row, values),
  );
}

/**
 * Removes a thing from a board.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export async function deleteBoardThing(
  service: KanbanService,
  accountId: string,
  target: { kind: BoardThingKind; id: string },
): Promise<void> {
  await changeBoard(service, accountId, target, (change, row) => deleteObject(change, target.kind, row));
}
