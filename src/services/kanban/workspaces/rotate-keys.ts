// Replacing the keys of a workspace: all of them or none (contract, section 5).
import { sql } from 'kysely';
import { requireRole } from '../access.ts';
import { KanbanError } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { readWorkspace, underLock, type Workspace } from './workspaces.ts';

export interface NewKeys {
  /** The current one plus one. */
  epoch: number;
  /** The name under the new key; it stays as it is when left out. */
  encName?: string | undefined;
  members: Array<{ userId: string; encWorkspaceKey: string }>;
  boards: Array<{ boardId: string; encBoardKeys: Array<{ epoch: number; encBoardKey: string }> }>;
}

/**
 * Writes the new keys of every member and every board, and the name of the workspace under them.
 *
 * @throws {KanbanError} NOT_FOUND, FORBIDDEN, CONFLICT when epoch, members, boards or their keys are not those that exist
 */
export async function rotateKeys(
  service: KanbanService,
  accountId: string,
  workspaceId: string,
  { epoch, encName, members, boards }: NewKeys,
): Promise<Workspace> {
  await underLock(service, accountId, workspaceId, async (transaction, { role }) => {
    requireRole(role, 'admin');
    const [workspace] = await transaction
      .selectFrom('workspace')
      .select('keyEpoch')
      .where('id', '=', workspaceId)
      .execute();
    requireSame('epoch', [String(epoch)], [String((workspace?.keyEpoch ?? 0) + 1)]);
    const memberRows = await transaction
      .selectFrom('workspaceMember')
      .select('accountId')
      .where('workspaceId', '=', workspaceId)
      .execute();
    requireSame(
      'members',
      members.map(({ userId }) => userId),
      memberRows.map((row) => row.accountId),
    );
    const keyRows = await transaction
      .selectFrom('board')
      .leftJoin('boardKey', 'boardKey.boardId', 'board.id')
      .select(['board.id as boardId', 'epoch'])
      .where('workspaceId', '=', workspaceId)
      .orderBy('board.id')
      .forNoKeyUpdate('board')
      .execute();
    requireSame(
      'boards',
      boards.map(({ boardId }) => boardId),
      [...new Set(keyRows.map(({ boardId }) => boardId))],
    );
    const keys = boards.flatMap(({ boardId, encBoardKeys }) =>
      encBoardKeys.map((key) => ({ ...key, boardId })),
    );
    // The old keys read what is there; a new one, if it is given, has the number of this rotation.
    requireSame(
      'encBoardKeys',
      keys.filter((key) => key.epoch !== epoch).map((key) => `${key.boardId} ${key.epoch}`),
      keyRows.map((key) => `${key.boardId} ${key.epoch}`),
    );
    const now = new Date(service.platform.clock.now());
    await sql`
      UPDATE workspace_member SET enc_workspace_key = given.key
      FROM unnest(${members.map(({ userId }) => userId)}::text[],
        ${members.map(({ encWorkspaceKey }) => encWorkspaceKey)}::text[]) AS given (account_id, key)
      WHERE workspace_id = ${workspaceId} AND workspace_member.account_id = given.account_id`.execute(
      transaction,
    );
    if (keys.length > 0) {
      await transaction
        .insertInto('boardKey')
        .values(keys)
        .onConflict((conflict) =>
          conflict
            .columns(['boardId', 'epoch'])
            .doUpdateSet(({ ref }) => ({ encBoardKey: ref('excluded.encBoardKey') })),
        )
        .execute();
    }
    await transaction
      .updateTable('workspace')
      .set({ keyEpoch: epoch, rotationDue: false, updatedAt: now, ...(encName !== undefined && { encName }) })
      .where('id', '=', workspaceId)
      .execute();
  });
  return readWorkspace(service, accountId, workspaceId);
}

function requireSame(what: string, given: string[], wanted: string[]): void {
  const isSame = given.length === wanted.length && new Set([...given, ...wanted]).size === wanted.length;
  if (!isSame) throw new KanbanError('CONFLICT', `${what}: not what the workspace has now; read it again.`);
}
