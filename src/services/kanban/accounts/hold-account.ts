// Holding an account: whatever is written for one waits for its deletion, or its deletion for that.
import type { Kysely } from 'kysely';
import type { Tables } from '../../../platform/database/tables.ts';

/**
 * Holds an account for the rest of the transaction, so that nothing is written for it behind its deletion. Accounts
 * are taken before workspaces, by everybody: so no two wait for each other.
 *
 * @returns whether there is such an account, and it is not deleted
 */
export async function holdAccount(transaction: Kysely<Tables>, accountId: string): Promise<boolean> {
  const account = await transaction
    .selectFrom('account')
    .select('id')
    .where('id', '=', accountId)
    .where('deletedAt', 'is', null)
    .forShare()
    .executeTakeFirst();
  return account !== undefined;
}
