// `svc paste`: create pastes from a file or a pipe, and read, delete and list one's own, through a server's API.
import { Command, Option } from 'commander';
import { configOption, debugOption, jsonOption, quietOption, yesOption } from '../options.ts';
import type { Terminal } from '../terminal.ts';

const serverOption = () =>
  new Option('--server <origin>', 'server to use (default http://localhost:3002)').env('PASTE_URL');
const passwordOption = () =>
  new Option('--password', 'ask for the password (or set PASTE_PASSWORD or PASTE_PASSWORD_FILE)');
const passwordStdinOption = () => new Option('--password-stdin', 'read the password from stdin');

function withServer(command: Command): Command {
  return command.addOption(serverOption()).addOption(configOption()).addOption(debugOption());
}

/** The command and its subcommands. */
export function pasteCommand(terminal: Terminal): Command {
  const paste = withServer(
    new Command('paste')
      .argument('[file]', 'file to paste; - or nothing reads stdin')
      .addOption(new Option('-l, --lang <language>', 'language (default: guessed from the file name)'))
      .addOption(new Option('-t, --title <title>', 'title (default: the name of the file)'))
      .addOption(
        new Option('-e, --expires <when>', 'when it expires: 10min, 1h, 1d, 1w, 1mo or 1y').default('1w'),
      )
      .addOption(passwordOption())
      .addOption(passwordStdinOption())
      .addOption(new Option('--burn', 'delete it when it is read'))
      .addOption(new Option('--id <id>', 'address of your choice, 4 to 32 of a-z A-Z 0-9 _ -'))
      .addOption(new Option('--copy', 'copy the address to the clipboard'))
      .addOption(new Option('--qr', 'draw the address as a QR code on stderr'))
      .addOption(jsonOption())
      .addOption(quietOption()),
  )
    .action(async (file: string | undefined, _options, command: Command) => {
      const { runCreate } = await import('../paste/create.ts');
      await runCreate(terminal, command, file);
    })
    .addHelpText(
      'after',
      `
Examples:
  $ svc paste main.rs
  $ journalctl -u nginx | svc paste --title "nginx" --expires 1d
  $ svc paste notes.md --password --burn --qr
  $ git diff | svc paste --lang diff --server https://paste.example.org

Exit status: 0 done, 1 refused by the server, 2 usage, 3 created but not copied, 69 server unreachable.`,
    );
  for (const [name, description] of [
    ['get', 'print a paste; it counts as a read'],
    ['raw', 'print a paste through its raw form; it counts as a read'],
  ] as const) {
    paste.addCommand(
      withServer(new Command(name).description(description).argument('<paste>', 'id or address'))
        .addOption(passwordOption())
        .addOption(passwordStdinOption())
        .addOption(new Option('-o, --output <file>', 'write to a new file'))
        .addOption(yesOption())
        .addOption(jsonOption().hideHelp(name === 'raw'))
        .action(async (address: string, _options, command: Command) => {
          const { runRead } = await import('../paste/read.ts');
          await runRead(terminal, command, address, name);
        })
        .addHelpText(
          'after',
          `
A burn-after-read paste is deleted by reading it.

Examples:
  $ svc paste ${name} Xk4pQ7mNz2
  $ svc paste ${name} https://paste.example.org/Xk4pQ7mNz2 -o notes.md
  $ PASTE_PASSWORD_FILE=secret.txt svc paste ${name} Xk4pQ7mNz2

Exit status: 0 done, 1 refused by the server, 2 usage or nobody to ask for the password, 69 server unreachable.`,
        ),
    );
  }
  paste.addCommand(
    withServer(
      new Command('delete')
        .description('delete pastes with their delete tokens')
        .argument('<paste...>', 'ids or addresses'),
    )
      .addOption(
        new Option(
          '--token-stdin',
          'read the delete token from stdin (default: from your own list, or PASTE_DELETE_TOKEN)',
        ),
      )
      .addOption(jsonOption())
      .action(async (addresses: string[], _options, command: Command) => {
        const { runDelete } = await import('../paste/delete.ts');
        await runDelete(terminal, command, addresses);
      })
      .addHelpText(
        'after',
        '\nExamples:\n  $ svc paste delete Xk4pQ7mNz2\n  $ svc paste delete Xk4pQ7mNz2 pW3kq9ZtYb\n\nExit status: 0 done, 1 none was deleted, 3 some were, 69 server unreachable.',
      ),
  );
  paste.addCommand(
    new Command('list')
      .description('the pastes made from this machine that have not expired')
      .addOption(new Option('-a, --all', 'expired ones too'))
      .addOption(new Option('--tokens', 'with their delete tokens'))
      .addOption(jsonOption())
      .addOption(debugOption())
      .action(async (_options, command: Command) => {
        const { runList } = await import('../paste/list.ts');
        runList(terminal, command);
      })
      .addHelpText(
        'after',
        '\nExamples:\n  $ svc paste list\n  $ svc paste list --json | jq -r .url\n\nExit status: 0 done.',
      ),
  );
  return paste;
}
