// What `svc migrate up|down|status` do.
import type { Command } from 'commander';
import { migrations } from '../../../migrations/index.ts';
import { type MigrationStep, migrate, schemaStatus } from '../../platform/database/migrate.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import { createLog } from '../../platform/log.ts';
import { openStorage, type Storage } from '../../platform/open-storage.ts';
import { commandConfig } from '../load-config.ts';
import { confirm, note, print, printJson, type Terminal } from '../terminal.ts';
import { requireDatabase } from '../with-platform.ts';

interface MigrateFlags {
  json?: boolean;
  dryRun?: boolean;
  yes?: boolean;
}

/** Applies all pending migrations, or undoes the newest. */
export async function runMigrate(
  terminal: Terminal,
  command: Command,
  direction: 'up' | 'down',
): Promise<void> {
  const { json = false, dryRun = false, yes = false } = command.opts<MigrateFlags>();
  await withStorage(
    terminal,
    command,
    `svc migrate ${direction}`,
    dryRun || direction === 'down',
    async ({ database }) => {
      if (direction === 'down' && !dryRun && !yes) {
        const [step] = await migrate(database, migrations, { direction, dryRun: true });
        if (!step) return report(terminal, [], { json, dryRun, direction });
        if (!(await confirm(terminal, `Undo ${step.name}? Its tables and their rows are lost.`, '--yes'))) {
          note(terminal, 'nothing was changed');
          return;
        }
      }
      report(terminal, await migrate(database, migrations, { direction, dryRun }), {
        json,
        dryRun,
        direction,
      });
    },
  );
}

/** Shows where the schema stands; the exit status says it too. */
export async function runMigrateStatus(terminal: Terminal, command: Command): Promise<void> {
  const { json = false } = command.opts<MigrateFlags>();
  await withStorage(terminal, command, 'svc migrate status', true, async ({ database }) => {
    const status = await schemaStatus(database, migrations);
    if (json) printJson(terminal, status);
    else {
      for (const name of status.applied)
        print(terminal, `${status.unknown.includes(name) ? 'unknown' : 'applied'}  ${name}`);
      for (const name of status.pending) print(terminal, `pending  ${name}`);
      if (status.pending.length > 0) note(terminal, 'Try: svc migrate up');
    }
    if (status.unknown.length > 0) process.exitCode = EXIT.schemaNewer;
    else if (status.pending.length > 0) process.exitCode = EXIT.schemaBehind;
  });
}

async function withStorage(
  terminal: Terminal,
  command: Command,
  commandName: string,
  mustExist: boolean,
  work: (storage: Storage) => Promise<void>,
): Promise<void> {
  const config = commandConfig(terminal, command, 'migrate');
  if (mustExist) requireDatabase(config);
  const log = await createLog({ level: 'warn', format: config.log.format });
  const storage = await openStorage({ config, command: commandName, log });
  try {
    await work(storage);
  } finally {
    await storage.close();
  }
}

function report(
  terminal: Terminal,
  steps: MigrationStep[],
  { json, dryRun, direction }: { json: boolean; dryRun: boolean; direction: 'up' | 'down' },
): void {
  if (json) {
    printJson(terminal, { direction, dryRun, migrations: steps.map(({ name }) => name) });
    return;
  }
  const verb = direction === 'up' ? 'apply' : 'undo';
  const done = direction === 'up' ? 'applied' : 'undid';
  for (const { name } of steps) print(terminal, `${dryRun ? `would ${verb}` : done} ${name}`);
  if (steps.length === 0) note(terminal, 'nothing to do');
}
