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

/** The command and what it purges. */
export function purgeCommand(terminal: Terminal): Command {
  const purge = new Command('purge');
  purge.addCommand(
    new Command('pastes')
      .description('remove expired pastes')
      .addOption(dryRunOption())
      .addOption(yesOption())
      .addOption(
        new Option('--older-than <duration>', 'only those that expired at least this long ago').argParser(
          durationArgument,
        ),
      )
      .addOption(jsonOption())
      .addOption(quietOption())
      .addOption(configOption())
      .addOption(dataDirOption())
      .addOption(debugOption())
      .action(async (_options, command: Command) => {
        const { runPurgePastes } = await import('../purge/run-purge-pastes.ts');
        await runPurgePastes(terminal, command);
      })
      .addHelpText(
        'after',
        `
Examples:
  $ svc purge pastes --dry-run
  $ svc purge pastes --yes --older-than 7d
  0 4 * * *  svc purge pastes --yes --quiet      (a line for cron)

Exit status: 0 done, 2 the question could not be asked, 3 interrupted (run it again to go on), 11 another purge runs.`,
      ),
  );
  return purge;
}
