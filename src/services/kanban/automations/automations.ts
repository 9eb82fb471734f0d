// Automations as they are stored: what sets them off, and what they do. Everything they name lies on their board.

import type { Row } from '../access.ts';
import { changeBoard } from '../boards/board-change.ts';
import { changeObject, deleteObject, insertObject, requireFewer } from '../boards/board-objects.ts';
import type { BoardChange } from '../boards/change.ts';
import { requireMembers, requireOnBoard } from '../boards/references.ts';
import type { KanbanService } from '../kanban-service.ts';
import type { Action, Trigger } from './rules.ts';

export interface AutomationValues {
  encName?: string | undefined;
  enabled?: boolean | undefined;
  trigger?: Trigger | undefined;
  actions?: Action[] | undefined;
}

/** Of a board. */
const MOST_AUTOMATIONS = 100;

/**
 * Creates an automation, which acts as its creator.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for what is not on the board, CONFLICT for one too many
 */
export function createAutomation(
  service: KanbanService,
  accountId: string,
  boardId: string,
  values: AutomationValues,
): Promise<Row> {
  return changeBoard(service, accountId, { kind: 'board', id: boardId }, async (change) => {
    await requireFewer(change, 'automation', { most: MOST_AUTOMATIONS, name: 'automations' });
    await requireReferences(change, values);
    return insertObject(change, 'automation', { enabled: true, ...values, creatorId: accountId });
  });
}

/**
 * Changes an automation.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for what is not on the board
 */
export function changeAutomation(
  service: KanbanService,
  accountId: string,
  id: string,
  values: AutomationValues,
): Promise<Row> {
  return changeBoard(service, accountId, { kind: 'automation', id }, async (change, row) => {
    await requireReferences(change, values);
    return changeObject(change, 'automation', row, { ...values });
  });
}

/**
 * Removes an automation.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export async function deleteAutomation(service: KanbanService, accountId: string, id: string): Promise<void> {
  await changeBoard(service, accountId, { kind: 'automation', id }, (change, row) =>
    deleteObject(change, 'automation', row),
  );
}

async function requireReferences(
  change: BoardChange,
  { trigger, actions = [] }: AutomationValues,
): Promise<void> {
  const inActions = (name: string) =>
    actions
      .map((action) => (action as unknown as Record<string, unknown>)[name])
      .filter((id) => id != null) as string[];
  const inTrigger = (...ids: Array<string | null | undefined>) => ids.filter((id) => id != null);
  await requireOnBoard(change, 'column', inTrigger(trigger?.toColumnId, trigger?.fromColumnId), 'trigger');
  await requireOnBoard(change, 'label', inTrigger(trigger?.labelId), 'trigger');
  await requireOnBoard(change, 'column', inActions('toColumnId'), 'actions');
  await requireOnBoard(change, 'label', inActions('labelId'), 'actions');
  await requireOnBoard(change, 'milestone', inActions('milestoneId'), 'actions');
  await requireMembers(change, inActions('userId'), 'actions');
}
