// One's own account, and finding somebody to invite.
import type { Role } from '../../../platform/database/kanban-tables.ts';
import { notFound } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { normaliseEmail } from './email.ts';
import type { User } from './register.ts';

export interface Membership {
  workspaceId: string;
  role: Role;
  encWorkspaceKey: string;
  joinedAt: Date;
}

/**
 * An account with its memberships.
 *
 * @throws {KanbanError} NOT_FOUND when it is being deleted
 */
export async function readMe(
  { platform }: KanbanService,
  accountId: string,
): Promise<{ user: User; memberships: Membership[] }> {
  const { database } = platform;
  const [user, memberships] = await Promise.all([
    database
      .selectFrom('account')
      .select(['id', 'email', 'publicKey', 'totpEnabled', 'createdAt'])
      .where('id', '=', accountId)
      .where('deletedAt', 'is', null)
      .executeTakeFirst(),
    database
      .selectFrom('workspaceMember')
      .select(['workspaceId', 'role', 'encWorkspaceKey', 'joinedAt'])
      .where('accountId', '=', accountId)
      .orderBy('workspaceId')
      .execute(),
  ]);
  if (!user) throw notFound();
  return { user: { ...user, publicKey: user.publicKey ?? '' }, memberships };
}

/**
 * Finds the account of an address, to invite it.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export async function lookUpUser(
  { platform }: KanbanService,
  email: string,
): Promise<{ id: string; email: string; publicKey: string }> {
  const user = await platform.database
    .selectFrom('account')
    .select(['id', 'email', 'publicKey'])
    .where('email', '=', normaliseEmail(email))
    .where('deletedAt', 'is', null)
    .executeTakeFirst();
  if (!user) throw notFound();
  return { ...user, publicKey: user.publicKey ?? '' };
}
