// Every migration by name, in order. An explicit list, so that a build cannot lose one.
import type { Migration } from 'kysely/migration';
import * as paste from './0001_paste.ts';
import * as jobs from './0002_jobs.ts';
import * as links from './0003_links.ts';
import * as accounts from './0004_accounts.ts';
import * as boards from './0005_boards.ts';
import * as deliveries from './0006_deliveries.ts';

export const migrations: Record<string, Migration> = {
  '0001_paste': paste,
  '0002_jobs': jobs,
  '0003_links': links,
  '0004_accounts': accounts,
  '0005_boards': boards,
  '0006_deliveries': deliveries,
};
