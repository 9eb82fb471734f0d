// `svc healthcheck`: for containers, whether the daemon beside it is ready.
import { Command, Option } from 'commander';
import { debugOption, jsonOption } from '../options.ts';
import type { Terminal } from '../terminal.ts';

/** The command. */
export function healthcheckCommand(terminal: Terminal): Command {
  return new Command('healthcheck')
    .addOption(
      new Option('--ops-port <port>', 'port of its operator endpoint').env('OPS_PORT').default('3009'),
    )
    .addOption(
      new Option('--ops-host <address>', 'address of its operator endpoint')
        .env('OPS_HOST')
        .default('127.0.0.1'),
    )
    .addOption(jsonOption())
    .addOption(debugOption())
    .action(async (options: { opsPort: string; opsHost: string; json?: boolean }) => {
      const { runHealthcheck } = await import('../healthcheck/run-healthcheck.ts');
      await runHealthcheck(terminal, options);
    })
    .addHelpText(
      'after',
      '\nExamples:\n  $ svc healthcheck\n  HEALTHCHECK CMD ["svc", "healthcheck"]      (in a Dockerfile)\n\nExit status: 0 ready, 1 not ready, 69 nothing answers.',
    );
}
