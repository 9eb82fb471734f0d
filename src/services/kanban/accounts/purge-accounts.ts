// Removing the rows of accounts that were deleted long enough ago, and what signing in leaves behind.
import { type Kysely, sql } from 'kysely';
import { inTransaction } from '../../../platform/database/in-transaction.ts';
import type { Tables } from '../../../platform/database/tables.ts';
import { withLease } from '../../../platform/lease.ts';
import type { Platform } from '../../../platform/platform.ts';
import { SESSION_IDLE_MS, SESSION_LIFETIME_MS } from './sessions.ts';

export interface AccountPurgePlan {
  accounts: number;
  /** When the first and the last of them were deleted; null when there are none. */
  oldest: Date | null;
  newest: Date | null;
}

export interface AccountPurgeOptions {
  /** Who runs it, for whoever finds the lock held. */
  command: string;
  signal?: AbortSignal;
  /** Told after each account. */
  onProgress?: (purged: { accounts: number }) => void;
}

type PurgeParts = Pick<Platform, 'database' | 'clock' | 'log'>;

const FAILURES_KEPT_MS = 86_400_000;
const ADDRESSES_KEPT_MS = 30 * 86_400_000;

/** What a purge would remove: accounts whose time came (ACCOUNT_DELETE_AFTER). Writes nothing. */
export async function planAccountPurge({ database, clock }: PurgeParts): Promise<AccountPurgePlan> {
  const row = await database
    .selectFrom('account')
    .select(({ fn }) => [
      fn.countAll<number>().as('accounts'),
      fn.min('deletedAt').as('oldest'),
      fn.max('deletedAt').as('newest'),
    ])
    .where('purgeAfter', '<=', new Date(clock.now()))
    .executeTakeFirstOrThrow();
  return { accounts: row.accounts, oldest: row.oldest ?? null, newest: row.newest ?? null };
}

/**
 * Removes the rows of accounts, one transaction each. What they wrote in boards of others stays, nameless: authors and
 * actors become null by their foreign keys, what else names the account is emptied here.
 *
 * @throws {Failure} LEASE_HELD (exit 11) when another purge is running
 */
export async function purgeAccounts(
  parts: PurgeParts,
  { command, signal, onProgress }: AccountPurgeOptions,
): Promise<{ accounts: number; complete: boolean }> {
  return withLease(parts, { name: 'purge-accounts', command }, async (lease) => {
    let accounts = 0;
    while (!signal?.aborted) {
      const isGone = await inTransaction(parts.database, async (transaction) => {
        await lease.renew(transaction);
        return purgeOne(transaction, parts.clock.now());
      });
      if (!isGone) {
        await removeDeserted(parts);
        return { accounts, complete: true };
      }
      accounts++;
      onProgress?.({ accounts });
    }
    return { accounts, complete: false };
  });
}

/** Forgets sessions that are over, failures of yesterday, and addresses that count as known no more. */
export async function pruneSignIns({ database, clock }: PurgeParts): Promise<{ sessions: number }> {
  const before = (ageMs: number) => new Date(clock.now() - ageMs);
  const { numDeletedRows } = await database
    .deleteFrom('session')
    .where(({ eb, or }) =>
      or([eb('createdAt', '<', before(SESSION_LIFETIME_MS)), eb('lastUsedAt', '<', before(SESSION_IDLE_MS))]),
    )
    .executeTakeFirst();
  await database.deleteFrom('loginFailure').where('failedAt', '<', before(FAILURES_KEPT_MS)).execute();
  await database.deleteFrom('accountAddress').where('signedInAt', '<', before(ADDRESSES_KEPT_MS)).execute();
  return { sessions: Number(numDeletedRows) };
}

/** Removes workspaces without members: nobody can reach them, and none comes about by what accounts do today. */
async function removeDeserted({ database, log }: PurgeParts): Promise<void> {
  const { numDeletedRows } = await database
    .deleteFrom('workspace')
    .where(({ exists, not, selectFrom }) =>
      not(
        exists(
          selectFrom('workspaceMember').select('accountId').whereRef('workspaceId', '=', 'workspace.id'),
        ),
      ),
    )
    .executeTakeFirst();
  if (numDeletedRows > 0n)
    log.warn({ workspaces: Number(numDeletedRows) }, 'removed workspaces without members');
}

async function purgeOne(transaction: Kysely<Tables>, nowMs: number): Promise<boolean> {
  const account = await transaction
    .selectFrom('account')
    .select('id')
    .where('purgeAfter', '<=', new Date(nowMs))
    .orderBy('purgeAfter')
    .limit(1)
    .forUpdate()
    .skipLocked()
    .executeTakeFirst();
  if (!account) return false;
  const { id } = account;
  await sql`UPDATE activity SET metadata = metadata || '{"userId": null}'
    WHERE metadata ? 'userId' AND metadata ->> 'userId' = ${id}`.execute(transaction);
  await sql`UPDATE comment SET mentions = array_remove(mentions, ${id}) WHERE mentions @> ARRAY[${id}]`.execute(
    transaction,
  );
  await sql`
    UPDATE automation SET enabled = false, actions = (
      SELECT coalesce(jsonb_agg(action), '[]') FROM jsonb_array_elements(actions) AS action
      WHERE action ->> 'userId' IS DISTINCT FROM ${id})
    WHERE actions @> jsonb_build_array(jsonb_build_object('userId', ${id}::text))`.execute(transaction);
  await sql`UPDATE webhook_delivery SET body = replace(body, ${`"${id}"`}, 'null')
    WHERE body LIKE ${`%"${id}"%`}`.execute(transaction);
  await transaction.deleteFrom('account').where('id', '=', id).execute();
  return true;
}
