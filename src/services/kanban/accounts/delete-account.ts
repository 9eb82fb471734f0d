// Deleting an account: what could open anything of it goes at once, the rows that name it after 30 days.
import { type Kysely, sql } from 'kysely';
import { inTransaction } from '../../../platform/database/in-transaction.ts';
import type { Tables } from '../../../platform/database/tables.ts';
import { notFound } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { announceEnd } from '../live/ended-access.ts';
import { announceChange } from '../live/ticks.ts';
import { removeFromBoards } from '../workspaces/members.ts';
import { removeWorkspaces } from '../workspaces/workspaces.ts';

export interface AccountDeletion {
  deletedAt: Date;
  purgeAfter: Date;
}

/**
 * Shreds an account in one transaction: credentials, keys, blobs, sealed workspace keys, sessions, second factors.
 * Where it was alone the workspace goes with it; where it was the last owner, the longest-standing admin, else member,
 * becomes one (contract, section 5).
 *
 * @throws {KanbanError} NOT_FOUND when it is deleted already
 */
export async function deleteAccount(service: KanbanService, accountId: string): Promise<AccountDeletion> {
  const { clock, config, database } = service.platform;
  const deletedAt = new Date(clock.now());
  const purgeAfter = new Date(deletedAt.getTime() + config.kanban.deleteAfterMs);
  const changes = await inTransaction(database, async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('account')
      .set({
        salt: null,
        authHash: null,
        publicKey: null,
        encPrivateKey: null,
        encSymmetricKey: null,
        encRecoveryBlob: null,
        totpSecret: null,
        totpEnabled: false,
        deletedAt,
        purgeAfter,
      })
      .where('id', '=', accountId)
      .where('deletedAt', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) throw notFound();
    for (const table of ['session', 'recoveryCode', 'webauthnCredential', 'accountAddress'] as const) {
      await transaction.deleteFrom(table).where('accountId', '=', accountId).execute();
    }
    return leaveWorkspaces(transaction, accountId, deletedAt);
  });
  for (const { boardId, recorded } of changes) announceChange(service, boardId, recorded);
  await service.sessions.forget({ accountId });
  await announceEnd(service, { accountId });
  return { deletedAt, purgeAfter };
}

async function leaveWorkspaces(transaction: Kysely<Tables>, accountId: string, now: Date) {
  const workspaces = await transaction
    .selectFrom('workspace')
    .select('id')
    .where('id', 'in', (query) =>
      query.selectFrom('workspaceMember').select('workspaceId').where('accountId', '=', accountId),
    )
    .orderBy('id')
    .forUpdate()
    .execute();
  const ids = workspaces.map(({ id }) => id);
  const changes = await removeFromBoards(transaction, {
    workspaceIds: ids,
    accountId,
    actorId: accountId,
    now,
  });
  if (ids.length === 0) return changes;
  const { rows: emptied } = await sql<{ id: string }>`
    SELECT id FROM workspace WHERE id = ANY(${ids})
      AND NOT EXISTS (SELECT FROM workspace_member WHERE workspace_id = workspace.id)`.execute(transaction);
  await removeWorkspaces(transaction, { workspaceIds: emptied.map(({ id }) => id), actorId: accountId, now });
  await sql`
    UPDATE workspace_member SET role = 'owner'
    FROM (
      SELECT DISTINCT ON (workspace_id) workspace_id, account_id FROM workspace_member AS candidate
      WHERE workspace_id = ANY(${ids})
        AND NOT EXISTS (SELECT FROM workspace_member AS owner
          WHERE owner.workspace_id = candidate.workspace_id AND owner.role = 'owner')
      ORDER BY workspace_id, role, joined_at, account_id
    ) AS heir
    WHERE workspace_member.workspace_id = heir.workspace_id AND workspace_member.account_id = heir.account_id`.execute(
    transaction,
  );
  await transaction
    .updateTable('workspace')
    .set({ rotationDue: true, updatedAt: now })
    .where('id', 'in', ids)
    .execute();
  return changes;
}
