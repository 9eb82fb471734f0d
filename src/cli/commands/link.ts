// `svc link`: create short links, and read, count, draw, delete and list one's own, through a server's API; and, for
// operators, import and export them.
import { Command, InvalidArgumentError, Option } from 'commander';
import { configOption, debugOption, jsonOption, numberArgument, quietOption } from '../options.ts';
import type { Terminal } from '../terminal.ts';
import { exportCommand, importCommand } from './link-bulk.ts';

const MOST_DAYS = 365;

function daysArgument(text: string): number {
  const days = /^[1-9]\d{0,2}$/.test(text) ? Number(text) : 0;
  if (days < 1 || days > MOST_DAYS)
    throw new InvalidArgumentError(`It takes a whole number from 1 to ${MOST_DAYS}.`);
  return days;
}

function withServer(command: Command): Command {
  return command
    .addOption(
      new Option('--server <origin>', 'server to use (default http://localhost:3003)').env('LINKS_URL'),
    )
    .addOption(configOption())
    .addOption(debugOption());
}

/** The command and its subcommands. */
export function linkCommand(terminal: Terminal): Command {
  const link = withCreation(new Command('link'), terminal, 'link');
  link.addCommand(
    withServer(
      new Command('get').description('what is known of a link').argument('<link>', 'code or address'),
    )
      .addOption(jsonOption())
      .action(async (address: string, _options, command: Command) => {
        const { runGet } = await import('../link/get.ts');
        await runGet(terminal, command, address);
      })
      .addHelpText(
        'after',
        '\nCounts no click.\n\nExamples:\n  $ svc link get k3XqP9w\n  $ svc link get https://sho.rt/k3XqP9w --json\n\nExit status: 0 done, 1 no such link, 69 server unreachable.',
      ),
  );
  link.addCommand(
    withServer(new Command('stats').description('clicks of a link').argument('<link>', 'code or address'))
      .addOption(
        new Option('--days <n>', 'length of the timeline, 1 to 365').default(30).argParser(daysArgument),
      )
      .addOption(jsonOption())
      .action(async (address: string, _options, command: Command) => {
        const { runStats } = await import('../link/stats.ts');
        await runStats(terminal, command, address);
      })
      .addHelpText(
        'after',
        '\nExamples:\n  $ svc link stats k3XqP9w\n  $ svc link stats k3XqP9w --days 365 --json | jq .totalClicks\n\nExit status: 0 done, 1 no such link, 69 server unreachable.',
      ),
  );
  link.addCommand(
    withServer(new Command('qr').description('QR code of a short URL').argument('<link>', 'code or address'))
      .addOption(
        new Option('-f, --format <format>', 'default: by the name of the file, else text').choices([
          'text',
          'png',
          'svg',
        ]),
      )
      .addOption(new Option('-o, --output <file>', 'write to a new file instead of stdout'))
      .action(async (address: string, _options, command: Command) => {
        const { runQr } = await import('../link/qr.ts');
        await runQr(terminal, command, address);
      })
      .addHelpText(
        'after',
        '\nExamples:\n  $ svc link qr k3XqP9w\n  $ svc link qr k3XqP9w -o poster.svg\n  $ svc link qr k3XqP9w --format png | lp\n\nExit status: 0 done, 1 no such link, 2 the file is there already, 69 server unreachable.',
      ),
  );
  link.addCommand(
    withServer(
      new Command('delete')
        .description('delete links with their delete tokens')
        .argument('<link...>', 'codes or addresses'),
    )
      .addOption(
        new Option(
          '--token-stdin',
          'read the delete token from stdin (default: from your own list, or LINK_DELETE_TOKEN)',
        ),
      )
      .addOption(jsonOption())
      .action(async (addresses: string[], _options, command: Command) => {
        const { runDelete } = await import('../link/delete.ts');
        await runDelete(terminal, command, addresses);
      })
      .addHelpText(
        'after',
        '\nExamples:\n  $ svc link delete k3XqP9w\n  $ svc link delete k3XqP9w summer-sale\n\nExit status: 0 done, 1 none was deleted, 3 some were, 69 server unreachable.',
      ),
  );
  link.addCommand(
    new Command('list')
      .description('the links made from this machine that have not expired')
      .addOption(new Option('-a, --all', 'expired ones too'))
      .addOption(new Option('--tokens', 'with their delete tokens'))
      .addOption(jsonOption())
      .addOption(debugOption())
      .action(async (_options, command: Command) => {
        const { runList } = await import('../link/list.ts');
        runList(terminal, command);
      })
      .addHelpText(
        'after',
        '\nExamples:\n  $ svc link list\n  $ svc link list --json | jq -r .url\n\nExit status: 0 done.',
      ),
  );
  link.addCommand(importCommand(terminal));
  link.addCommand(exportCommand(terminal));
  return link;
}

/** `svc shorten`: the same as `svc link <url>`. */
export function shortenCommand(terminal: Terminal): Command {
  return withCreation(new Command('shorten'), terminal, 'shorten');
}

function withCreation(command: Command, terminal: Terminal, name: 'link' | 'shorten'): Command {
  return withServer(command.argument('[url...]', 'what to shorten; - or a pipe: one URL a line'))
    .addOption(new Option('-c, --code <code>', 'code of your choice, 3 to 20 of a-z A-Z 0-9 _ -'))
    .addOption(
      new Option('-e, --expires <when>', 'when it expires: 90m, 24h, 7d, 3mo, 1y, in 3 days, 2027-01-31, …'),
    )
    .addOption(new Option('--password', 'ask for a password (or set LINK_PASSWORD or LINK_PASSWORD_FILE)'))
    .addOption(new Option('--password-stdin', 'read the password from stdin'))
    .addOption(new Option('--from <file>', 'file with one URL a line; - is stdin'))
    .addOption(new Option('--skip <n>', 'begin behind so many lines').argParser(numberArgument))
    .addOption(new Option('--copy', 'copy the short URL to the clipboard'))
    .addOption(new Option('--qr', 'draw the short URL as a QR code on stderr'))
    .addOption(jsonOption())
    .addOption(quietOption())
    .action(async (urls: string[], _options, self: Command) => {
      const { runCreate } = await import('../link/create.ts');
      await runCreate(terminal, self, urls);
    })
    .addHelpText(
      'after',
      `
Dates without a time mean the end of that day here; times need an offset or Z.

Examples:
  $ svc ${name} https://example.com/a/long/path
  $ svc ${name} https://example.com --code summer-sale --expires 3mo --qr
  $ svc ${name} --from urls.txt --expires 1y > short.txt
  $ grep -o 'https://[^ ]*' notes.md | svc ${name}

Exit status: 0 done, 1 refused by the server, 2 usage, 3 some were made (or made but not copied), 69 server unreachable.`,
    );
}
