// What a body names is as foreign as what a path names: everything must lie on the same board, everybody be a member
// of its workspace (contract, section 5).

import { invalidField } from '../errors.ts';
import { type ObjectKind, RESOURCES } from '../resources.ts';
import type { BoardChange } from './change.ts';

/**
 * @throws {KanbanError} BAD_REQUEST when one of the ids is of nothing of that kind on the board
 */
export async function requireOnBoard(
  { transaction, boardId }: BoardChange,
  kind: ObjectKind,
  ids: readonly string[],
  field: string,
): Promise<void> {
  const wanted = [...new Set(ids)];
  if (wanted.length === 0) return;
  const rows = await transaction
    .selectFrom(RESOURCES[kind].table)
    .select('id')
    .where('boardId', '=', boardId)
    .where('id', 'in', wanted)
    .execute();
  if (rows.length < wanted.length) throw invalidField(field, 'is not on this board');
}

/**
 * @throws {KanbanError} BAD_REQUEST when one of the accounts is no member of the workspace
 */
export async function requireMembers(
  { transaction, workspaceId }: BoardChange,
  accountIds: readonly string[],
  field: string,
): Promise<void> {
  const wanted = [...new Set(accountIds)];
  if (wanted.length === 0) return;
  const rows = await transaction
    .selectFrom('workspaceMember')
    .select('accountId')
    .where('workspaceId', '=', workspaceId)
    .where('accountId', 'in', wanted)
    .execute();
  if (rows.length < wanted.length) throw invalidField(field, 'is no member of this workspace');
}
