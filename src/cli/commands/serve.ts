// `svc serve`: the servers and the scheduler, in one process or as separate daemons.
import { Command, InvalidArgumentError, Option } from 'commander';
import { configOption, dataDirOption, debugOption, durationArgument } from '../options.ts';
import type { Terminal } from '../terminal.ts';

const SERVICES = ['kanban', 'paste', 'links'];

const onlyOption = () =>
  new Option(
    '--only <services>',
    `serve a choice of services, with commas (${SERVICES.join(', ')})`,
  ).argParser((text: string) => {
    const names = text.split(',').map((name) => name.trim());
    const unknown = names.find((name) => !SERVICES.includes(name));
    if (unknown !== undefined) {
      throw new InvalidArgumentError(
        `There is no service "${unknown}" in this version; there is: ${SERVICES.join(', ')}.`,
      );
    }
    return names;
  });

const kanbanPortOption = () =>
  new Option('--kanban-port <port>', 'port of the kanban service').env('KANBAN_PORT');
const relayPortOption = () => new Option('--relay-port <port>', 'port of the relay').env('RELAY_PORT');
const pastePortOption = () =>
  new Option('--paste-port <port>', 'port of the paste service').env('PASTE_PORT');
const linksPortOption = () => new Option('--links-port <port>', 'port of the link service').env('LINKS_PORT');

function withServeOptions(command: Command): Command {
  return command
    .addOption(new Option('--host <address>', 'address to listen on').env('SVC_HOST'))
    .addOption(configOption())
    .addOption(new Option('--migrate', 'migrate the database first'))
    .addOption(
      new Option('--wait-for <duration>', 'wait this long for PostgreSQL and Redis').argParser(
        durationArgument,
      ),
    )
    .addOption(
      new Option('--shutdown-timeout <duration>', 'end at once this long after a signal')
        .argParser(durationArgument)
        .default(10_000, '10s'),
    )
    .addOption(debugOption());
}

/** The command and its daemons. */
export function serveCommand(terminal: Terminal): Command {
  const serve = withServeOptions(new Command('serve'))
    // What stands behind `api` belongs to it, though this command has options of the same names.
    .enablePositionalOptions()
    .addOption(kanbanPortOption())
    .addOption(pastePortOption())
    .addOption(linksPortOption())
    .addOption(relayPortOption())
    .addOption(new Option('--ops-port <port>', 'port of /metrics, /livez and /readyz').env('OPS_PORT'))
    .addOption(dataDirOption())
    .addOption(onlyOption())
    .option('--no-scheduler', 'serve without running scheduled jobs')
    .action(async (_options, command: Command) => {
      const { runServe } = await import('../serve/run-serve.ts');
      await runServe(terminal, command, 'serve');
    })
    .addHelpText(
      'after',
      `
Without DATABASE_URL and REDIS_URL everything is embedded: nothing else needs to be installed.

Examples:
  $ svc serve
  $ svc serve --data-dir /var/lib/svc --host 0.0.0.0
  $ DATABASE_URL=postgres://svc@db/svc REDIS_URL=redis://cache SVC_SECRET_FILE=/run/secret svc serve --migrate

Exit status: 0 stopped by a signal, 10 database unreachable, 11 data folder in use, 12 schema behind, 69 Redis
unreachable, 78 configuration wrong.`,
    );
  serve.addCommand(
    withServeOptions(new Command('api'))
      .description('start one API daemon (needs DATABASE_URL and REDIS_URL)')
      .addOption(kanbanPortOption())
      .addOption(pastePortOption())
      .addOption(linksPortOption())
      .addOption(new Option('--ops-port <port>', 'port of /metrics, /livez and /readyz').env('OPS_PORT'))
      .addOption(onlyOption())
      .action(async (_options, command: Command) => {
        const { runServe } = await import('../serve/run-serve.ts');
        await runServe(terminal, command, 'api');
      })
      .addHelpText(
        'after',
        `
Any number of them share one PostgreSQL and one Redis.

Examples:
  $ svc serve api --config /etc/svc.env
  $ svc serve api --only paste --wait-for 30s

Exit status: as svc serve.`,
      ),
  );
  serve.addCommand(
    withServeOptions(new Command('relay'))
      .description('start one relay daemon (needs DATABASE_URL and REDIS_URL)')
      .addOption(relayPortOption())
      .addOption(new Option('--ops-port <port>', 'port of /metrics, /livez and /readyz').env('OPS_PORT'))
      .action(async (_options, command: Command) => {
        const { runServe } = await import('../serve/run-serve.ts');
        await runServe(terminal, command, 'relay');
      })
      .addHelpText(
        'after',
        `
Any number of them share one Redis: who is connected to one hears who is connected to another. The proxy in front sends
/api/ws of the kanban service here.

Examples:
  $ svc serve relay --config /etc/svc.env
  $ svc serve relay --relay-port 3101 --ops-port 3108

Exit status: as svc serve.`,
      ),
  );
  serve.addCommand(
    withServeOptions(new Command('scheduler'))
      .description('start one scheduler daemon (needs DATABASE_URL and REDIS_URL)')
      .addOption(new Option('--ops-port <port>', 'port of /metrics, /livez and /readyz').env('OPS_PORT'))
      .action(async (_options, command: Command) => {
        const { runServe } = await import('../serve/run-serve.ts');
        await runServe(terminal, command, 'scheduler');
      })
      .addHelpText(
        'after',
        `
Any number of them share one PostgreSQL; each job runs once for a minute of its schedule.

Examples:
  $ svc serve scheduler --config /etc/svc.env

Exit status: as svc serve.`,
      ),
  );
  return serve;
}
