// Workspaces.
import { type Kysely, sql } from 'kysely';
import { inTransaction } from '../../../platform/database/in-transaction.ts';
import type { Role } from '../../../platform/database/kanban-tables.ts';
import type { Tables } from '../../../platform/database/tables.ts';
import { createId } from '../../../platform/ids.ts';
import { requireRole, requireWorkspace, type WorkspaceAccess } from '../access.ts';
import { holdAccount } from '../accounts/hold-account.ts';
import { KanbanError, notFound } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { announceEnd } from '../live/ended-access.ts';
import { type Page, type PageRequest, readLargeRows } from '../pages.ts';
import { writeFarewells } from '../webhooks/write-deliveries.ts';

/** A workspace as one of its members sees it. */
export interface Workspace {
  id: string;
  encName: string;
  role: Role;
  encWorkspaceKey: string;
  keyEpoch: number;
  rotationDue: boolean;
  createdAt: Date;
  updatedAt: Date;
}

function selectWorkspaces(database: Kysely<Tables>, accountId: string) {
  return database
    .selectFrom('workspace')
    .innerJoin('workspaceMember', 'workspaceMember.workspaceId', 'workspace.id')
    .selectAll('workspace')
    .select(['workspaceMember.role', 'workspaceMember.encWorkspaceKey'])
    .where('workspaceMember.accountId', '=', accountId);
}

/**
 * The workspaces of an account, oldest first.
 *
 * @throws {KanbanError} BAD_REQUEST for a cursor that is none
 */
export async function listWorkspaces(
  { platform }: KanbanService,
  accountId: string,
  request: PageRequest,
): Promise<Page<Workspace>> {
  const own = (column: 'role' | 'encWorkspaceKey') => sql`(
    SELECT ${sql.ref(column)} FROM workspace_member
    WHERE workspace_id = workspace.id AND account_id = ${accountId})`;
  const workspaces = {
    columns: sql`workspace.*, ${own('role')} AS role, ${own('encWorkspaceKey')} AS enc_workspace_key`,
    table: 'workspace',
    where: sql`id IN (SELECT workspace_id FROM workspace_member WHERE account_id = ${accountId})`,
    order: ['id'],
    bytes: sql`octet_length(enc_name) + octet_length(${own('encWorkspaceKey')})`,
  };
  return readLargeRows(platform.database, workspaces, request);
}

/**
 * @throws {KanbanError} NOT_FOUND
 */
export async function readWorkspace(
  { platform }: KanbanService,
  accountId: string,
  workspaceId: string,
): Promise<Workspace> {
  return find(platform.database, accountId, workspaceId);
}

async function find(database: Kysely<Tables>, accountId: string, workspaceId: string): Promise<Workspace> {
  const workspace = await selectWorkspaces(database, accountId)
    .where('workspace.id', '=', workspaceId)
    .executeTakeFirst();
  if (!workspace) throw notFound();
  return workspace;
}

/**
 * Creates a workspace; its creator is its first owner.
 *
 * @throws {KanbanError} NOT_FOUND when the account is being deleted
 */
export async function createWorkspace(
  { platform }: KanbanService,
  accountId: string,
  { encName, encWorkspaceKey }: { encName: string; encWorkspaceKey: string },
): Promise<Workspace> {
  const now = new Date(platform.clock.now());
  const id = createId(now.getTime());
  return inTransaction(platform.database, async (transaction) => {
    if (!(await holdAccount(transaction, accountId))) throw notFound();
    await transaction
      .insertInto('workspace')
      .values({ id, encName, keyEpoch: 1, createdAt: now, updatedAt: now })
      .execute();
    await transaction
      .insertInto('workspaceMember')
      .values({ workspaceId: id, accountId, role: 'owner', encWorkspaceKey, joinedAt: now })
      .execute();
    return find(transaction, accountId, id);
  });
}

/**
 * Renames a workspace.
 *
 * @throws {KanbanError} NOT_FOUND, FORBIDDEN
 */
export async function changeWorkspace(
  service: KanbanService,
  accountId: string,
  workspaceId: string,
  { encName }: { encName?: string | undefined },
): Promise<Workspace> {
  return underLock(service, accountId, workspaceId, async (transaction, { role }) => {
    requireRole(role, 'admin');
    if (encName !== undefined) {
      await transaction
        .updateTable('workspace')
        .set({ encName, updatedAt: new Date(service.platform.clock.now()) })
        .where('id', '=', workspaceId)
        .where('encName', '<>', encName)
        .execute();
    }
    return find(transaction, accountId, workspaceId);
  });
}

/**
 * Removes a workspace with all its boards.
 *
 * @throws {KanbanError} NOT_FOUND, FORBIDDEN
 */
export async function deleteWorkspace(
  service: KanbanService,
  accountId: string,
  workspaceId: string,
): Promise<void> {
  const now = new Date(service.platform.clock.now());
  await underLock(service, accountId, workspaceId, async (transaction, { role }) => {
    requireRole(role, 'owner');
    await removeWorkspaces(transaction, { workspaceIds: [workspaceId], actorId: accountId, now });
  });
  await announceEnd(service, { workspaceId });
}

/** Removes workspaces that are locked, with their members and all their boards; webhooks are told of each board. */
export async function removeWorkspaces(
  transaction: Kysely<Tables>,
  { workspaceIds, actorId, now }: { workspaceIds: readonly string[]; actorId: string; now: Date },
): Promise<void> {
  if (workspaceIds.length === 0) return;
  // Members before boards, and these by their ids: the order in which everybody takes them.
  await transaction.deleteFrom('workspaceMember').where('workspaceId', 'in', workspaceIds).execute();
  const boards = await transaction
    .selectFrom('board')
    .select('id')
    .where('workspaceId', 'in', workspaceIds)
    .orderBy('id')
    .forUpdate()
    .execute();
  await writeFarewells(transaction, { boardIds: boards.map(({ id }) => id), actorId, now });
  await transaction.deleteFrom('workspace').where('id', 'in', workspaceIds).execute();
}

/**
 * Refuses what was wrapped under another workspace key than the one there is: nobody could open it. To be asked with
 * the workspace in hand.
 *
 * @param keyEpoch - of the key that was used; nothing is asked of who does not say
 * @throws {KanbanError} CONFLICT
 */
export async function requireKeyEpoch(
  transaction: Kysely<Tables>,
  workspaceId: string,
  keyEpoch: number | undefined,
): Promise<void> {
  if (keyEpoch === undefined) return;
  const workspace = await transaction
    .selectFrom('workspace')
    .select('keyEpoch')
    .where('id', '=', workspaceId)
    .executeTakeFirst();
  if (workspace?.keyEpoch === keyEpoch) return;
  throw new KanbanError('CONFLICT', 'keyEpoch: not the one that the workspace has now; read it again.');
}

/**
 * Runs work on a workspace, one at a time.
 *
 * @param work - runs again when PostgreSQL ended the transaction for another
 */
export function underLock<T>(
  { platform }: KanbanService,
  accountId: string,
  workspaceId: string,
  work: (transaction: Kysely<Tables>, access: WorkspaceAccess) => Promise<T>,
): Promise<T> {
  return inTransaction(platform.database, async (transaction) =>
    work(transaction, await requireWorkspace(transaction, accountId, workspaceId, true)),
  );
}
