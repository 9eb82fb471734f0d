// Commands that administer go to the database: this opens the platform for the length of one.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import type { Config } from '../platform/config/config.ts';
import { migrate, requireCurrentSchema, schemaStatus } from '../platform/database/migrate.ts';
import { Failure, messageOf } from '../platform/errors.ts';
import { EXIT } from '../platform/exit-codes.ts';
import { createLog } from '../platform/log.ts';
import { openPlatform, type Platform } from '../platform/platform.ts';
import { commandConfig } from './load-config.ts';
import type { Terminal } from './terminal.ts';

/**
 * Runs work on the platform, which is closed afterwards whatever happens.
 *
 * @param dryRun - whether nothing may be written, not even what an older schema lacks
 * @throws {Failure} what opening the platform throws, NO_DATABASE, SCHEMA_BEHIND or SCHEMA_NEWER
 */
export async function withPlatform<T>(
  terminal: Terminal,
  command: Command,
  commandName: string,
  work: (platform: Platform) => Promise<T>,
  { dryRun = false }: { dryRun?: boolean } = {},
): Promise<T> {
  const config = commandConfig(terminal, command, 'command');
  requireDatabase(config);
  const log = await createLog({
    level: config.log.level === 'info' ? 'warn' : config.log.level,
    format: config.log.format,
  });
  await using platform = await openPlatform({ config, command: commandName, log });
  await requireSchema(platform, dryRun);
  return await work(platform);
}

/**
 * Sees that there is a database to administer: a folder that was mistyped must not look like one with nothing in it.
 *
 * @throws {Failure} NO_DATABASE (exit 78)
 */
export function requireDatabase({ databaseUrl, dataDir }: Config): void {
  if (databaseUrl !== undefined || existsSync(join(dataDir, 'pgdata'))) return;
  throw new Failure({
    code: 'NO_DATABASE',
    message: `there is no database in ${dataDir}`,
    hint: 'name its folder with --data-dir, or PostgreSQL with DATABASE_URL; svc serve makes a new one',
    exit: EXIT.configuration,
  });
}

/** Sees that the schema is what this program needs; the embedded database is migrated by whoever owns it. */
async function requireSchema({ database, storage, log }: Platform, dryRun: boolean): Promise<void> {
  const { migrations } = await import('../../migrations/index.ts');
  const status = await schemaStatus(database, migrations);
  if (!dryRun && storage.embedded?.owner && status.pending.length > 0 && status.unknown.length === 0) {
    const steps = await migrate(database, migrations, { direction: 'up' });
    log.info({ migrations: steps.map(({ name }) => name) }, 'the embedded database was migrated');
    return;
  }
  requireCurrentSchema(status);
}

/** A signal that aborts at Ctrl-C or SIGTERM, for work that ends at a safe point; a second one ends at once. */
export function interruptible(): {
  signal: AbortSignal;
  interruptedBy: () => NodeJS.Signals | undefined;
  done: () => void;
} {
  const controller = new AbortController();
  let received: NodeJS.Signals | undefined;
  const onSignal = (signal: NodeJS.Signals) => {
    if (received !== undefined) process.kill(process.pid, 'SIGKILL');
    received = signal;
    controller.abort(new Error(`interrupted: ${messageOf(signal)}`));
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal);
  return {
    signal: controller.signal,
    interruptedBy: () => received,
    done: () => process.off('SIGINT', onSignal).off('SIGTERM', onSignal),
  };
}
