// Who is in a workspace, and in which role.
import { type Kysely, sql } from 'kysely';
import { inTransaction } from '../../../platform/database/in-transaction.ts';
import type { Role } from '../../../platform/database/kanban-tables.ts';
import type { Tables } from '../../../platform/database/tables.ts';
import { requireRole, requireWorkspace } from '../access.ts';
import { holdAccount } from '../accounts/hold-account.ts';
import { type Recorded, recordAll } from '../boards/record-activity.ts';
import { invalidField, KanbanError, notFound } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { announceEnd } from '../live/ended-access.ts';
import { announceChange } from '../live/ticks.ts';
import { cursorKey, momentIn, type Page, type PageRequest, pageOf } from '../pages.ts';
import { requireKeyEpoch, underLock } from './workspaces.ts';

export interface Member {
  userId: string;
  email: string;
  publicKey: string;
  role: Role;
  joinedAt: Date;
}

export interface Invitation {
  userId: string;
  encWorkspaceKey: string;
  /** Epoch of the workspace key that is sealed; the current one when left out. */
  keyEpoch?: number | undefined;
}

/**
 * The members of a workspace, in the order in which they joined.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a cursor that is none
 */
export async function listMembers(
  { platform }: KanbanService,
  accountId: string,
  workspaceId: string,
  request: PageRequest,
): Promise<Page<Member>> {
  await requireWorkspace(platform.database, accountId, workspaceId);
  const after = cursorKey(request, 2);
  let query = selectMembers(platform.database, workspaceId)
    .orderBy('joinedAt')
    .orderBy('accountId')
    .limit(request.limit + 1);
  if (after) {
    const joinedAt = momentIn(after[0]);
    query = query.where(sql<boolean>`(joined_at, account_id) > (${joinedAt}::timestamptz, ${after[1]})`);
  }
  return pageOf(await query.execute(), request, ({ joinedAt, userId }) => [joinedAt.toISOString(), userId]);
}

function selectMembers(database: Kysely<Tables>, workspaceId: string) {
  return database
    .selectFrom('workspaceMember')
    .innerJoin('account', 'account.id', 'workspaceMember.accountId')
    .select([
      'accountId as userId',
      'email',
      sql<string>`coalesce(public_key, '')`.as('publicKey'),
      'role',
      'joinedAt',
    ])
    .where('workspaceId', '=', workspaceId);
}

/**
 * Adds somebody, with the workspace key sealed for them.
 *
 * @throws {KanbanError} NOT_FOUND, FORBIDDEN, BAD_REQUEST for an unknown account, CONFLICT for a member, and for a
 * workspace key that was replaced
 */
export async function inviteMember(
  service: KanbanService,
  accountId: string,
  workspaceId: string,
  { userId, encWorkspaceKey, keyEpoch }: Invitation,
): Promise<Member> {
  const joinedAt = new Date(service.platform.clock.now());
  return inTransaction(service.platform.database, async (transaction) => {
    // Before the workspace, in which order its deletion takes them.
    const isThere = await holdAccount(transaction, userId);
    const { role } = await requireWorkspace(transaction, accountId, workspaceId, true);
    requireRole(role, 'admin');
    if (!isThere) throw invalidField('userId', 'is no account');
    await requireKeyEpoch(transaction, workspaceId, keyEpoch);
    const { numInsertedOrUpdatedRows } = await transaction
      .insertInto('workspaceMember')
      .values({ workspaceId, accountId: userId, role: 'member', encWorkspaceKey, joinedAt })
      .onConflict((conflict) => conflict.doNothing())
      .executeTakeFirst();
    if (!numInsertedOrUpdatedRows) throw new KanbanError('CONFLICT', 'They are a member already.');
    return findMember(transaction, workspaceId, userId);
  });
}

async function findMember(database: Kysely<Tables>, workspaceId: string, userId: string): Promise<Member> {
  const member = await selectMembers(database, workspaceId)
    .where('accountId', '=', userId)
    .executeTakeFirst();
  if (!member) throw notFound();
  return member;
}

/**
 * Changes the role of a member.
 *
 * @throws {KanbanError} NOT_FOUND, FORBIDDEN, CONFLICT when nobody would own the workspace
 */
export async function changeRole(
  service: KanbanService,
  accountId: string,
  workspaceId: string,
  { userId, role }: { userId: string; role: Role },
): Promise<Member> {
  return underLock(service, accountId, workspaceId, async (transaction, access) => {
    const member = await findMember(transaction, workspaceId, userId);
    requireRole(access.role, 'owner');
    if (member.role === 'owner' && role !== 'owner')
      await requireOtherOwner(transaction, workspaceId, userId);
    // As for a removal: what was begun under the old role is waited for, and whoever waits for us reads the new one.
    await transaction
      .selectFrom('workspaceMember')
      .select('role')
      .where('workspaceId', '=', workspaceId)
      .where('accountId', '=', userId)
      .forUpdate()
      .execute();
    await transaction
      .updateTable('workspaceMember')
      .set({ role })
      .where('workspaceId', '=', workspaceId)
      .where('accountId', '=', userId)
      .execute();
    return { ...member, role };
  });
}

/**
 * Removes a member, or leaves. The keys they know have to be replaced: the workspace says so until they are.
 *
 * @throws {KanbanError} NOT_FOUND, FORBIDDEN, CONFLICT for the last owner
 */
export async function removeMember(
  service: KanbanService,
  accountId: string,
  workspaceId: string,
  userId: string,
): Promise<void> {
  const now = new Date(service.platform.clock.now());
  const changes = await underLock(service, accountId, workspaceId, async (transaction, access) => {
    const member = await findMember(transaction, workspaceId, userId);
    if (userId !== accountId) requireRole(access.role, member.role === 'owner' ? 'owner' : 'admin');
    if (member.role === 'owner') await requireOtherOwner(transaction, workspaceId, userId);
    await transaction
      .updateTable('workspace')
      .set({ rotationDue: true, updatedAt: now })
      .where('id', '=', workspaceId)
      .execute();
    return removeFromBoards(transaction, {
      workspaceIds: [workspaceId],
      accountId: userId,
      actorId: accountId,
      now,
    });
  });
  for (const { boardId, recorded } of changes) announceChange(service, boardId, recorded);
  await announceEnd(service, { accountId: userId, workspaceId });
}

export interface Removal {
  workspaceIds: readonly string[];
  /** Who goes. */
  accountId: string;
  /** Who does it. */
  actorId: string;
  now: Date;
}

/**
 * Takes an account out of workspaces: its membership, its assignments, what was to be told to it.
 *
 * @returns what is to be announced of the boards after the commit
 */
export async function removeFromBoards(
  transaction: Kysely<Tables>,
  { workspaceIds, accountId, actorId, now }: Removal,
): Promise<Array<{ boardId: string; recorded: Recorded }>> {
  if (workspaceIds.length === 0) return [];
  // What they are changing now is waited for. Memberships before boards, as everybody takes them.
  await transaction
    .deleteFrom('workspaceMember')
    .where('workspaceId', 'in', workspaceIds)
    .where('accountId', '=', accountId)
    .execute();
  // Whoever changes one of the boards now is waited for, so that nothing is assigned behind our back.
  const boards = await transaction
    .selectFrom('board')
    .select(['id', 'workspaceId'])
    .where('workspaceId', 'in', workspaceIds)
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();
  if (boards.length === 0) return [];
  const boardIds = boards.map(({ id }) => id);
  const { rows: unassigned } = await sql<{ boardId: string; cardIds: string[] }>`
    WITH gone AS (
      DELETE FROM card_assignee USING card
      WHERE card.id = card_id AND account_id = ${accountId} AND board_id = ANY(${boardIds}) RETURNING card_id, board_id
    ) SELECT board_id, array_agg(card_id ORDER BY card_id) AS card_ids FROM gone GROUP BY board_id ORDER BY board_id`.execute(
    transaction,
  );
  await transaction
    .updateTable('checklistItem')
    .set({ assigneeId: null })
    .where('assigneeId', '=', accountId)
    .where('boardId', 'in', boardIds)
    .execute();
  await transaction
    .deleteFrom('notification')
    .where('accountId', '=', accountId)
    .where('boardId', 'in', boardIds)
    .execute();
  const changes: Array<{ boardId: string; recorded: Recorded }> = [];
  for (const { boardId, cardIds } of unassigned) {
    const workspaceId = boards.find(({ id }) => id === boardId)?.workspaceId ?? '';
    const entries = cardIds.map((cardId) => ({
      verb: 'CARD_UNASSIGNED',
      cardId,
      metadata: { cardId, userId: accountId },
    }));
    const change = { transaction, boardId, workspaceId, role: 'member', accountId: actorId, now } as const;
    const recorded = await recordAll({ ...change, record: ignore, notify: ignore }, entries, []);
    changes.push({ boardId, recorded });
  }
  return changes;
}

// Everything is known beforehand.
function ignore(): void {}

async function requireOtherOwner(
  transaction: Kysely<Tables>,
  workspaceId: string,
  userId: string,
): Promise<void> {
  const other = await transaction
    .selectFrom('workspaceMember')
    .select('accountId')
    .where('workspaceId', '=', workspaceId)
    .where('accountId', '<>', userId)
    .where('role', '=', 'owner')
    .executeTakeFirst();
  if (!other) throw new KanbanError('CONFLICT', 'A workspace has at least one owner.');
}
