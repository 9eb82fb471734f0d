// `svc migrate`: the schema of the database, up, down, and where it stands.
import { Command } from 'commander';
import { configOption, dataDirOption, debugOption, dryRunOption, jsonOption, yesOption } from '../options.ts';
import type { Terminal } from '../terminal.ts';

/** The command and its directions. */
export function migrateCommand(terminal: Terminal): Command {
  const migrate = new Command('migrate');
  const direction = (name: 'up' | 'down', description: string) =>
    new Command(name)
      .description(description)
      .addOption(dryRunOption())
      .addOption(jsonOption())
      .addOption(configOption())
      .addOption(dataDirOption())
      .addOption(debugOption())
      .action(async (_options, command: Command) => {
        const { runMigrate } = await import('../migrate/run-migrate.ts');
        await runMigrate(terminal, command, name);
      });
  migrate.addCommand(
    direction('up', 'apply every pending migration, all or none').addHelpText(
      'after',
      `
Examples:
  $ svc migrate up --dry-run
  $ DATABASE_URL=postgres://svc@db/svc svc migrate up

Exit status: 0 done, 10 database unreachable, 11 another process is migrating, 14 schema newer than this program.`,
    ),
  );
  migrate.addCommand(
    direction('down', 'undo the newest migration; its tables and their rows are lost')
      .addOption(yesOption())
      .addHelpText(
        'after',
        `
Examples:
  $ svc migrate down --dry-run
  $ svc migrate down --yes

Exit status: as svc migrate up; 2 when the question could not be asked.`,
      ),
  );
  migrate.addCommand(
    new Command('status')
      .description('which migrations are applied and which are pending')
      .addOption(jsonOption())
      .addOption(configOption())
      .addOption(dataDirOption())
      .addOption(debugOption())
      .action(async (_options, command: Command) => {
        const { runMigrateStatus } = await import('../migrate/run-migrate.ts');
        await runMigrateStatus(terminal, command);
      })
      .addHelpText(
        'after',
        `
Examples:
  $ svc migrate status
  $ svc migrate status --json

Exit status: 0 up to date, 12 migrations pending, 14 schema newer than this program.`,
      ),
  );
  return migrate;
}
