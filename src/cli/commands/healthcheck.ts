// `svc healthcheck`: for containers, whether the daemon beside it is ready.
import { Command, Option } from 'commander';
import { configOption, debugOption, jsonOption } from '../options.ts';
import type { Terminal } from '../terminal.ts';

/** The command. */
export function healthcheckCommand(terminal: Terminal): Command {
  return new Command('healthcheck')
    .addOption(
      new Option('--ops-port <port>', 'port of its operator endpoint (default 3009)').env('OPS_PORT'),
    )
    .addOption(new Option('--ops-host <address>', 'address of its operator endpoint').env('OPS_HOST'))
    .addOption(jsonOption())
    .addOption(debugOption())
    .addOption(configOption())
    .action(async (_options, command: Command) => {
      const { runHealthcheck } = await import('../healthcheck/run-healthcheck.ts');
      await runHealthcheck(terminal, command);
    })
    .addHelpText(
      'after',
      '\nExamples:\n  $ svc healthcheck\n  HEALTHCHECK CMD ["svc", "healthcheck"]      (in a Dockerfile)\n\nExit status: 0 ready, 1 not ready, 69 nothing answers.',
    );
}
