// `svc purge`: remove what has expired, for good.
import { Command, Option } from 'commander';
import {
  configOption,
  dataDirOption,
  debugOption,
  dryRunOption,
  durationArgument,
  jsonOption,
  quietOption,
  yesOption,
} from '../options.ts';
import type { Terminal } from '../terminal.ts';

const EXIT_STATUS =
  'Exit status: 0 done, 2 the question could not be asked, 3 interrupted (run it again to go on), 11 another purge runs.';

/** The command and what it purges. */
export function purgeCommand(terminal: Terminal): Command {
  return new Command('purge')
    .addCommand(
      withPurgeOptions('pastes', 'remove expired pastes', 'only those that expired at least this long ago')
        .action(async (_options, command: Command) => {
          const [{ runPurge }, { PASTES }] = await Promise.all([
            import('../purge/run-purge.ts'),
            import('../purge/purge-pastes.ts'),
          ]);
          await runPurge(terminal, command, PASTES);
        })
        .addHelpText(
          'after',
          `
Examples:
  $ svc purge pastes --dry-run
  $ svc purge pastes --yes --older-than 7d
  0 4 * * *  svc purge pastes --yes --quiet      (a line for cron)

${EXIT_STATUS}`,
        ),
    )
    .addCommand(
      withPurgeOptions(
        'links',
        'remove links that expired long ago, with their clicks',
        'only those that expired at least this long ago (default: LINKS_KEEP_EXPIRED, 30d)',
      )
        .action(async (_options, command: Command) => {
          const [{ runPurge }, { LINKS }] = await Promise.all([
            import('../purge/run-purge.ts'),
            import('../purge/purge-links.ts'),
          ]);
          await runPurge(terminal, command, LINKS);
        })
        .addHelpText(
          'after',
          `
Links without an expiry are never purged. The scheduler of svc serve does the same every ten minutes.

Examples:
  $ svc purge links --dry-run
  $ svc purge links --yes --older-than 90d

${EXIT_STATUS}`,
        ),
    );
}

function withPurgeOptions(name: string, description: string, olderThan: string): Command {
  return new Command(name)
    .description(description)
    .addOption(dryRunOption())
    .addOption(yesOption())
    .addOption(new Option('--older-than <duration>', olderThan).argParser(durationArgument))
    .addOption(jsonOption())
    .addOption(quietOption())
    .addOption(configOption())
    .addOption(dataDirOption())
    .addOption(debugOption());
}
