// Commands that administer go to the database: this opens the platform for the length of one.
import type { Command } from 'commander';
import { migrate, requireCurrentSchema, schemaStatus } from '../platform/database/migrate.ts';
import { messageOf } from '../platform/errors.ts';
import { createLog } from '../platform/log.ts';
import { openPlatform, type Platform } from '../platform/platform.ts';
import { commandConfig } from './load-config.ts';
import type { Terminal } from './terminal.ts';

/**
 * Runs work on the platform, which is closed afterwards whatever happens.
 *
 * @throws {Failure} what opening the platform throws, and SCHEMA_BEHIND or SCHEMA_NEWER
 */
export async function withPlatform<T>(
  terminal: Terminal,
  command: Command,
  commandName: string,
  work: (platform: Platform) => Promise<T>,
): Promise<T> {
  const config = commandConfig(terminal, command, 'command');
  const log = await createLog({
    level: config.log.level === 'info' ? 'warn' : config.log.level,
    format: config.log.format,
  });
  await using platform = await openPlatform({ config, command: commandName, log });
  await requireSchema(platform);
  return await work(platform);
}

/** Sees that the schema is what this program needs; the embedded database is migrated by whoever owns it. */
export async function requireSchema({ database, storage, log }: Platform): Promise<void> {
  const { migrations } = await import('../../migrations/index.ts');
  const status = await schemaStatus(database, migrations);
  if (storage.embedded?.owner && status.pending.length > 0 && status.unknown.length === 0) {
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
