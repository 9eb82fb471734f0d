// The one answer to "may this account do this to that object": membership of the workspace of its board, asked in one
// statement that loads the object through its parents. Whoever is no member learns nothing: not found.
import { type Kysely, sql } from 'kysely';
import type { Role } from '../../platform/database/kanban-tables.ts';
import type { Tables } from '../../platform/database/tables.ts';
import { KanbanError, notFound } from './errors.ts';
import { RESOURCES, type TargetKind } from './resources.ts';

export interface Target {
  kind: TargetKind;
  id: string;
}

export interface BoardAccess {
  boardId: string;
  workspaceId: string;
  role: Role;
}

export interface WorkspaceAccess {
  workspaceId: string;
  role: Role;
}

const RANK: Record<Role, number> = { member: 0, admin: 1, owner: 2 };

/**
 * @throws {KanbanError} FORBIDDEN when the role is not enough
 */
export function requireRole(role: Role, least: Role): void {
  if (RANK[role] < RANK[least]) {
    throw new KanbanError('FORBIDDEN', `This takes the role ${least} in the workspace.`);
  }
}

/**
 * Access to a board, or to something on one.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export async function requireBoard(
  database: Kysely<Tables>,
  accountId: string,
  { kind, id }: Target,
): Promise<BoardAccess> {
  const { rows } = await sql<BoardAccess>`
    SELECT board.id AS board_id, board.workspace_id, workspace_member.role
    FROM board JOIN workspace_member USING (workspace_id)
    WHERE workspace_member.account_id = ${accountId} AND board.id = ${
      kind === 'board' ? sql`${id}` : sql`(SELECT board_id FROM ${tableOf(kind)} WHERE id = ${id})`
    }`.execute(database);
  const [access] = rows;
  if (!access) throw notFound();
  return access;
}

/** A row of any of the tables of things on a board. */
export type Row = Record<string, unknown> & { id: string; boardId: string; cardId?: string };

/**
 * The same for whoever is about to change something: the board is held for the rest of the transaction, and the row of
 * what the request names comes as it is under the lock. So does the membership: it ends behind this change or before
 * it, and never while this waits. Membership, board, row, by everybody in this order: so no two wait for each other.
 *
 * @returns for a board itself a row with no more than its id
 * @throws {KanbanError} NOT_FOUND
 */
export async function lockTarget(
  transaction: Kysely<Tables>,
  accountId: string,
  { kind, id }: Target,
): Promise<BoardAccess & { row: Row }> {
  const access = sql`board.workspace_id AS access_workspace_id, workspace_member.role AS access_role`;
  // PostgreSQL locks in the order of the clauses, and reads a row that it locks anew when the lock was waited for.
  const query =
    kind === 'board'
      ? sql<LockedRow>`
        SELECT board.id, board.id AS board_id, ${access} FROM board JOIN workspace_member USING (workspace_id)
        WHERE board.id = ${id} AND workspace_member.account_id = ${accountId}
        FOR KEY SHARE OF workspace_member FOR NO KEY UPDATE OF board`
      : sql<LockedRow>`
        SELECT ${kind === 'attachment' ? ATTACHMENT : sql`target.*`}, ${access}
        FROM ${tableOf(kind)} AS target JOIN board ON board.id = target.board_id
          JOIN workspace_member USING (workspace_id)
        WHERE target.id = ${id} AND workspace_member.account_id = ${accountId}
        FOR KEY SHARE OF workspace_member FOR NO KEY UPDATE OF board FOR NO KEY UPDATE OF target`;
  const { rows } = await query.execute(transaction);
  const [locked] = rows;
  if (!locked) throw notFound();
  const { accessWorkspaceId: workspaceId, accessRole: role, ...row } = locked;
  return { boardId: row.boardId, workspaceId, role, row };
}

type LockedRow = Row & { accessWorkspaceId: string; accessRole: Role };

// Nobody changes an attachment, and its content may have 14 MB.
const ATTACHMENT = sql`target.id, target.board_id, target.card_id`;

function tableOf(kind: Exclude<TargetKind, 'board'>) {
  return sql.table(snakeCase(RESOURCES[kind].table));
}

function snakeCase(name: string): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * Access to a workspace.
 *
 * @param lock - whether to hold the workspace, and then the membership, for the rest of the transaction
 * @throws {KanbanError} NOT_FOUND
 */
export async function requireWorkspace(
  database: Kysely<Tables>,
  accountId: string,
  workspaceId: string,
  lock = false,
): Promise<WorkspaceAccess> {
  const query = database
    .selectFrom('workspace')
    .innerJoin('workspaceMember', 'workspaceMember.workspaceId', 'workspace.id')
    .select(['workspace.id as workspaceId', 'workspaceMember.role'])
    .where('workspace.id', '=', workspaceId)
    .where('workspaceMember.accountId', '=', accountId);
  const access = await (lock
    ? query.forUpdate('workspace').forShare('workspaceMember')
    : query
  ).executeTakeFirst();
  if (!access) throw notFound();
  return access;
}
