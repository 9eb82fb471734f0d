// `svc webhooks`: see them, and try one.
import { Command, Option } from 'commander';
import { configOption, dataDirOption, debugOption, jsonOption } from '../options.ts';
import type { Terminal } from '../terminal.ts';

/** The command and its subcommands. */
export function webhooksCommand(terminal: Terminal): Command {
  const webhooks = new Command('webhooks');
  webhooks.addCommand(
    onDatabase('list', 'every webhook, one a line, with what waits and what is dead')
      .addOption(new Option('--board <id>', 'of this board'))
      .addOption(jsonOption())
      .action(async (_options, command: Command) => (await actions()).runListWebhooks(terminal, command))
      .addHelpText('after', '\nExamples:\n  $ svc webhooks list\n\nExit status: 0 done.'),
  );
  webhooks.addCommand(
    onDatabase('test', 'send a webhook a signed test message, now, from this machine')
      .argument('<webhook>', 'its id')
      .addOption(jsonOption())
      .action(async (id: string, _options, command: Command) =>
        (await actions()).runTestWebhook(terminal, command, id),
      )
      .addHelpText(
        'after',
        `
The message has the verb WEBHOOK_TEST, is sent once and is not kept.

Examples:
  $ svc webhooks test ckq…

Exit status: 0 taken (2xx), 1 not taken, or no such webhook.`,
      ),
  );
  return webhooks;
}

const actions = () => import('../deliveries/run-webhooks.ts');

function onDatabase(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(configOption())
    .addOption(dataDirOption())
    .addOption(debugOption());
}
