// `svc deliveries`: look after what webhooks are told.
import { Argument, Command, Option } from 'commander';
import {
  configOption,
  countArgument,
  dataDirOption,
  debugOption,
  dryRunOption,
  durationArgument,
  jsonOption,
  quietOption,
  yesOption,
} from '../options.ts';
import type { Terminal } from '../terminal.ts';

const STATUSES = ['pending', 'delivered', 'failed', 'dead'];

/** The command and its subcommands. */
export function deliveriesCommand(terminal: Terminal): Command {
  const deliveries = new Command('deliveries');
  deliveries.addCommand(
    withFilters(onDatabase('list', 'deliveries, newest first, one a line'))
      .addOption(new Option('--limit <count>', 'show at most so many').argParser(countArgument).default(100))
      .addOption(jsonOption())
      .action(async (_options, command: Command) => (await actions()).runList(terminal, command))
      .addHelpText(
        'after',
        `
Examples:
  $ svc deliveries list --status dead
  $ svc deliveries list --webhook ckq… --older-than 1d --json | jq -r .id

Exit status: 0 done.`,
      ),
  );
  deliveries.addCommand(
    onDatabase('show', 'one delivery with its attempts and its body')
      .argument('<delivery>', 'its id')
      .addOption(jsonOption())
      .action(async (id: string, _options, command: Command) =>
        (await actions()).runShow(terminal, command, id),
      )
      .addHelpText(
        'after',
        `
Examples:
  $ svc deliveries show 01JAB…

Exit status: 0 done, 1 no such delivery.`,
      ),
  );
  deliveries.addCommand(
    withFilters(onDatabase('requeue', 'deliver again what failed, is dead or was delivered'))
      .addArgument(new Argument('[delivery...]', 'their ids; or a filter, or --all'))
      .addOption(new Option('--all', 'every delivery that failed or is dead'))
      .addOption(dryRunOption())
      .addOption(yesOption())
      .addOption(jsonOption())
      .addOption(quietOption())
      .action(async (ids: string[], _options, command: Command) =>
        (await actions()).runRequeue(terminal, command, ids),
      )
      .addHelpText(
        'after',
        `
Each keeps its id and gets its whole schedule again. With a filter and no --status, failed and dead ones are meant.

Examples:
  $ svc deliveries requeue 01JAB…
  $ svc deliveries requeue --all --dry-run
  $ svc deliveries requeue --webhook ckq… --status dead --yes

Exit status: 0 done, 1 no such delivery, 2 the question could not be asked or nothing was named, 3 interrupted (run it again
to go on), 11 another re-queue runs.`,
      ),
  );
  deliveries.addCommand(
    withFilters(onDatabase('purge', 'remove deliveries for good; never pending ones'))
      .addOption(new Option('--all', 'every delivery that is not pending'))
      .addOption(dryRunOption())
      .addOption(yesOption())
      .addOption(jsonOption())
      .addOption(quietOption())
      .action(async (_options, command: Command) => (await actions()).runPurgeDeliveries(terminal, command))
      .addHelpText(
        'after',
        `
The scheduler of svc serve removes delivered ones after WEBHOOK_KEEP_DELIVERED; failed and dead ones stay until this.

Examples:
  $ svc deliveries purge --status dead --older-than 90d --dry-run
  $ svc deliveries purge --board ckq… --yes

Exit status: 0 done, 2 the question could not be asked or nothing was named, 3 interrupted (run it again to go on),
11 another purge runs.`,
      ),
  );
  return deliveries;
}

const actions = () => import('../deliveries/run-deliveries.ts');

function onDatabase(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(configOption())
    .addOption(dataDirOption())
    .addOption(debugOption());
}

function withFilters(command: Command): Command {
  return command
    .addOption(new Option('--board <id>', 'of this board'))
    .addOption(new Option('--webhook <id>', 'of this webhook'))
    .addOption(new Option('--status <status>', 'in this state').choices(STATUSES))
    .addOption(
      new Option('--older-than <duration>', 'made longer ago than this').argParser(durationArgument),
    );
}
