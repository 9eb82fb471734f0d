// What an operator may know and do of accounts: never anything that opens them.
import type { Platform } from '../../../platform/platform.ts';
import { emailHash, normaliseEmail } from './email.ts';

export interface AccountRecord {
  id: string;
  email: string;
  createdAt: Date;
  totpEnabled: boolean;
  deletedAt: Date | null;
  purgeAfter: Date | null;
  workspaces: number;
  sessions: number;
}

type Parts = Pick<Platform, 'database' | 'secrets'>;

function selectAccounts({ database }: Pick<Platform, 'database'>) {
  return database
    .selectFrom('account')
    .select(['id', 'email', 'createdAt', 'totpEnabled', 'deletedAt', 'purgeAfter'])
    .select((query) => [
      query
        .selectFrom('workspaceMember')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('workspaceMember.accountId', '=', 'account.id')
        .as('workspaces'),
      query
        .selectFrom('session')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .whereRef('session.accountId', '=', 'account.id')
        .as('sessions'),
    ]);
}

/** Accounts in the order of their registration, a batch at a time. */
export async function* listAccounts(parts: Pick<Platform, 'database'>): AsyncGenerator<AccountRecord> {
  const batch = 500;
  let after = '';
  for (;;) {
    const rows = await selectAccounts(parts).where('id', '>', after).orderBy('id').limit(batch).execute();
    yield* rows as AccountRecord[];
    if (rows.length < batch) return;
    after = rows.at(-1)?.id ?? after;
  }
}

/** The account of an address or an id. */
export async function findAccount(
  parts: Pick<Platform, 'database'>,
  addressOrId: string,
): Promise<AccountRecord | undefined> {
  const row = await selectAccounts(parts)
    .where(({ eb, or }) => or([eb('email', '=', normaliseEmail(addressOrId)), eb('id', '=', addressOrId)]))
    .executeTakeFirst();
  return row as AccountRecord | undefined;
}

/** Ends every wait of an account that failed logins caused; answers whether there was one. */
export async function unlockAccount({ database, secrets }: Parts, email: string): Promise<boolean> {
  const { numDeletedRows } = await database
    .deleteFrom('loginFailure')
    .where('emailHash', '=', emailHash(secrets, email))
    .executeTakeFirst();
  return numDeletedRows > 0n;
}
