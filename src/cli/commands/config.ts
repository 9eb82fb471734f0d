// `svc config`: the settings, where each came from, and an example file.
import { Command } from 'commander';
import { configOption, dataDirOption, debugOption, jsonOption } from '../options.ts';
import type { Terminal } from '../terminal.ts';

/** The command and its views. */
export function configCommand(terminal: Terminal): Command {
  const config = new Command('config');
  config.addCommand(
    new Command('show')
      .description('every setting, its value and where it came from; secrets masked')
      .addOption(jsonOption())
      .addOption(configOption())
      .addOption(dataDirOption())
      .addOption(debugOption())
      .action(async (_options, command: Command) => {
        const { runConfigShow } = await import('../config/run-config.ts');
        runConfigShow(terminal, command);
      })
      .addHelpText(
        'after',
        '\nExamples:\n  $ svc config show\n  $ svc config show --json --config /etc/svc.env\n\nExit status: 0 done, 78 a setting is wrong.',
      ),
  );
  config.addCommand(
    new Command('check')
      .description('say whether the settings are right')
      .addOption(jsonOption())
      .addOption(configOption())
      .addOption(dataDirOption())
      .addOption(debugOption())
      .action(async (_options, command: Command) => {
        const { runConfigCheck } = await import('../config/run-config.ts');
        runConfigCheck(terminal, command);
      })
      .addHelpText(
        'after',
        '\nExamples:\n  $ svc config check --config /etc/svc.env && systemctl restart svc\n\nExit status: 0 all is well, 78 a setting is wrong.',
      ),
  );
  config.addCommand(
    new Command('example')
      .description('print a file of every setting with its default and meaning')
      .action(async () => {
        const { runConfigExample } = await import('../config/run-config.ts');
        runConfigExample(terminal);
      })
      .addHelpText('after', '\nExamples:\n  $ svc config example > svc.env\n\nExit status: 0 done.'),
  );
  return config;
}
