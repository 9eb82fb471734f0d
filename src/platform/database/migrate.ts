// Brings the schema to where this program needs it, and says where it stands.

import { sql } from 'kysely';
import { type Migration, Migrator } from 'kysely/migration';
import { codeOf, Failure, messageOf } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import type { Database } from './connect.ts';

export interface SchemaStatus {
  applied: string[];
  pending: string[];
  /** Applied by a newer program; this one does not know them. */
  unknown: string[];
}

export interface MigrationStep {
  name: string;
  direction: 'up' | 'down';
}

// Any constant will do, as long as nobody else takes it: "svc_migr" in ASCII.
const ADVISORY_LOCK = 0x7376635f6d696772n;

/** Where the schema stands. Reads only. */
export async function schemaStatus(
  database: Database,
  migrations: Record<string, Migration>,
): Promise<SchemaStatus> {
  const names = Object.keys(migrations).sort();
  const applied = await appliedMigrations(database);
  return {
    applied,
    pending: names.filter((name) => !applied.includes(name)),
    unknown: applied.filter((name) => !names.includes(name)),
  };
}

/**
 * Refuses a schema this program cannot work with.
 *
 * @throws {Failure} SCHEMA_BEHIND (exit 12) with the command to run, or SCHEMA_NEWER (exit 14)
 */
export function requireCurrentSchema({ pending, unknown }: SchemaStatus): void {
  if (unknown.length > 0) {
    throw new Failure({
      code: 'SCHEMA_NEWER',
      message: `the database schema is newer than this program: it has ${unknown.join(', ')}`,
      hint: 'install the newer version of svc that made it, or restore a backup from before',
      exit: EXIT.schemaNewer,
    });
  }
  if (pending.length > 0) {
    throw new Failure({
      code: 'SCHEMA_BEHIND',
      message: `the database schema is behind this program: ${pending.join(', ')} not applied`,
      hint: 'svc migrate up',
      exit: EXIT.schemaBehind,
    });
  }
}

export interface MigrateOptions {
  /** Which way; `down` undoes one migration. */
  direction: 'up' | 'down';
  /** Print and change nothing. */
  dryRun?: boolean;
}

/**
 * Applies all pending migrations, or undoes the newest. One transaction: all or nothing; a second migrator at the
 * same time is refused by an advisory lock that ends with that transaction.
 *
 * @returns the steps taken (or, with dryRun, the steps that would be)
 * @throws {Failure} MIGRATION_LOCKED (exit 11), SCHEMA_NEWER (exit 14), MIGRATION_FAILED (exit 1)
 */
export async function migrate(
  database: Database,
  migrations: Record<string, Migration>,
  { direction, dryRun = false }: MigrateOptions,
): Promise<MigrationStep[]> {
  const status = await schemaStatus(database, migrations);
  if (status.unknown.length > 0) requireCurrentSchema(status);
  const steps = plannedSteps(status, direction);
  if (dryRun || steps.length === 0) return steps;
  return database.transaction().execute(async (transaction) => {
    await takeLock(transaction);
    const migrator = new Migrator({
      db: transaction,
      provider: { getMigrations: async () => migrations },
      nameComparator: (a, b) => (a < b ? -1 : a > b ? 1 : 0),
    });
    const { error, results = [] } =
      direction === 'up' ? await migrator.migrateToLatest() : await migrator.migrateDown();
    if (error !== undefined) {
      const failed = results.find((result) => result.status === 'Error')?.migrationName;
      throw new Failure({
        code: 'MIGRATION_FAILED',
        message: `migrating ${direction} failed${failed ? ` in ${failed}` : ''}: ${messageOf(error)}`,
        hint: 'nothing was changed; mend the cause and run the command again',
        exit: EXIT.failed,
        cause: error,
      });
    }
    return results.map((result) => ({ name: result.migrationName, direction }));
  });
}

function plannedSteps({ applied, pending }: SchemaStatus, direction: 'up' | 'down'): MigrationStep[] {
  if (direction === 'up') return pending.map((name) => ({ name, direction }));
  const newest = applied.at(-1);
  return newest === undefined ? [] : [{ name: newest, direction }];
}

async function appliedMigrations(database: Database): Promise<string[]> {
  try {
    const { rows } = await sql<{
      name: string;
    }>`SELECT name FROM kysely_migration ORDER BY name COLLATE "C"`.execute(database);
    return rows.map((row) => row.name);
  } catch (error) {
    // 42P01, undefined_table: nothing was ever migrated here.
    if (codeOf(error) === '42P01') return [];
    throw error;
  }
}

async function takeLock(transaction: Database): Promise<void> {
  const { rows } = await sql<{
    taken: boolean;
  }>`SELECT pg_try_advisory_xact_lock(${ADVISORY_LOCK.toString()}::bigint) AS taken`.execute(transaction);
  if (rows[0]?.taken) return;
  const holder = await lockHolder(transaction);
  throw new Failure({
    code: 'MIGRATION_LOCKED',
    message: `another process is migrating this database${holder ? `: ${holder}` : ''}`,
    hint: 'wait until it is done, then run `svc migrate status`',
    exit: EXIT.lockHeld,
  });
}

async function lockHolder(transaction: Database): Promise<string | undefined> {
  const { rows } = await sql<{ holder: string }>`
    SELECT concat_ws(' ', a.application_name, 'on', coalesce(a.client_addr::text, 'a local socket'), 'since', a.xact_start) AS holder
    FROM pg_locks l JOIN pg_stat_activity a USING (pid)
    WHERE l.locktype = 'advisory' AND l.granted
      AND l.classid::bigint = ${(ADVISORY_LOCK >> 32n).toString()}::bigint
      AND l.objid::bigint = ${(ADVISORY_LOCK & 0xffffffffn).toString()}::bigint`.execute(transaction);
  return rows[0]?.holder;
}
