// Workspaces.
import type { Kysely } from 'kysely';
import type { Role } from '../../../platform/database/kanban-tables.ts';
import type { Tables } from '../../../platform/database/tables.ts';
import { createId } from '../../../platform/ids.ts';
import { requireRole, requireWorkspace, type WorkspaceAccess } from '../access.ts';
import { notFound } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { announceEnd } from '../live/ended-access.ts';
import { cursorKey, type Page, type PageRequest, pageOf } from '../pages.ts';
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

/** The workspaces of an account, oldest first. */
export async function listWorkspaces(
  { platform }: KanbanService,
  accountId: string,
  request: PageRequest,
): Promise<Page<Workspace>> {
  const after = cursorKey(request, 1);
  let query = selectWorkspaces(platform.database, accountId)
    .orderBy('workspace.id')
    .limit(request.limit + 1);
  if (after) query = query.where('workspace.id', '>', after[0] ?? '');
  return pageOf(await query.execute(), request, ({ id }) => [id]);
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

/** Creates a workspace; its creator is its first owner. */
export async function createWorkspace(
  { platform }: KanbanService,
  accountId: string,
  { encName, encWorkspaceKey }: { encName: string; encWorkspaceKey: string },
): Promise<Workspace> {
  const now = new Date(platform.clock.now());
  const id = createId(now.getTime());
  return platform.database.transaction().execute(async (transaction) => {
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

/** Removes workspaces that are locked, with all their boards; webhooks are told of each board. */
export async function removeWorkspaces(
  transaction: Kysely<Tables>,
  { workspaceIds, actorId, now }: { workspaceIds: readonly string[]; actorId: string; now: Date },
): Promise<void> {
  if (workspaceIds.length === 0) return;
  // Held in the order in which everybody takes them.
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

/** Runs work on a workspace, one at a time. */
export function underLock<T>(
  { platform }: KanbanService,
  accountId: string,
  workspaceId: string,
  work: (transaction: Kysely<Tables>, access: WorkspaceAccess) => Promise<T>,
): Promise<T> {
  return platform.database
    .transaction()
    .execute(async (transaction) =>
      work(transaction, await requireWorkspace(transaction, accountId, workspaceId, true)),
    );
}
