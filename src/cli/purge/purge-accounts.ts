// `svc accounts purge`: what is special about accounts.
import {
  type AccountPurgePlan,
  planAccountPurge,
  purgeAccounts,
} from '../../services/kanban/accounts/purge-accounts.ts';
import type { PurgeKind } from './run-purge.ts';

export const ACCOUNTS: PurgeKind<AccountPurgePlan, { accounts: number }> = {
  commandName: 'svc accounts purge',
  plan: planAccountPurge,
  isEmpty: ({ accounts }) => accounts === 0,
  describe: ({ accounts, oldest, newest }) =>
    accounts === 0 || !oldest || !newest
      ? 'nothing: no account was deleted so long ago'
      : `${accounts} accounts, deleted between ${oldest.toISOString()} and ${newest.toISOString()}`,
  purge: purgeAccounts,
  summarize: ({ accounts }) => `${accounts} accounts`,
};
