// Door 1: the command tree. Loads commander and the short definitions of the commands; what a command needs to run
// is imported when it runs.
import { Command, CommanderError } from 'commander';
import { EXIT } from '../platform/exit-codes.ts';
import { processTerminal, type Terminal } from './terminal.ts';
import { VERSION } from './version.ts';

interface CommandEntry {
  name: string;
  /** One line, in the list of commands and above the command's own help. */
  description: string;
  load: () => Promise<(terminal: Terminal) => Command>;
}

// Only the definition of the command that was asked for is loaded; for the others a line is enough.
const COMMANDS: readonly CommandEntry[] = [
  {
    name: 'serve',
    description: 'start the servers and the scheduler',
    load: async () => (await import('./commands/serve.ts')).serveCommand,
  },
  {
    name: 'paste',
    description: 'create a paste from a file or a pipe; read, delete and list your own',
    load: async () => (await import('./commands/paste.ts')).pasteCommand,
  },
  {
    name: 'link',
    description: 'shorten URLs; read, count, draw, delete and list your own; import and export',
    load: async () => (await import('./commands/link.ts')).linkCommand,
  },
  {
    name: 'shorten',
    description: 'the same as link, for those who look for it here',
    load: async () => (await import('./commands/link.ts')).shortenCommand,
  },
  {
    name: 'migrate',
    description: 'bring the database schema up to date',
    load: async () => (await import('./commands/migrate.ts')).migrateCommand,
  },
  {
    name: 'config',
    description: 'show, check and explain the settings',
    load: async () => (await import('./commands/config.ts')).configCommand,
  },
  {
    name: 'purge',
    description: 'remove what has expired, for good',
    load: async () => (await import('./commands/purge.ts')).purgeCommand,
  },
  {
    name: 'accounts',
    description: 'accounts of the kanban service: list, show, unlock, disable-2fa, delete, purge',
    load: async () => (await import('./commands/accounts.ts')).accountsCommand,
  },
  {
    name: 'webhooks',
    description: 'webhooks of the kanban service: list them, test one',
    load: async () => (await import('./commands/webhooks.ts')).webhooksCommand,
  },
  {
    name: 'deliveries',
    description: 'what webhooks are told: list, show, requeue, purge',
    load: async () => (await import('./commands/deliveries.ts')).deliveriesCommand,
  },
  {
    name: 'jobs',
    description: 'scheduled jobs: list them, run one, see how runs ended',
    load: async () => (await import('./commands/jobs.ts')).jobsCommand,
  },
  {
    name: 'healthcheck',
    description: 'ask the daemon on this machine whether it is ready',
    load: async () => (await import('./commands/healthcheck.ts')).healthcheckCommand,
  },
  {
    name: 'explain',
    description: 'say more about an error code',
    load: async () => (await import('./commands/explain.ts')).explainCommand,
  },
];

/** Makes the command tree, with the whole definition of the command that the words ask for. */
async function createProgram(terminal: Terminal, words: string[]): Promise<Command> {
  const program = new Command('svc')
    .description(
      'Encrypted kanban, pastes and short links of your own: serve them, and look after them from the terminal.',
    )
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .showSuggestionAfterError()
    .configureHelp({ sortSubcommands: false, subcommandTerm: (command) => command.name() })
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `
Examples:
  $ svc serve                     start everything, embedded: kanban on port 3000, pastes 3002, links 3003
  $ echo hello | svc paste        create a paste, print its address
  $ svc link https://example.com  create a short link, print it
  $ svc purge pastes --dry-run    what a purge would remove

Exit status: svc help exit-codes`,
    );
  const asked = words.filter((word) => !word.startsWith('-'));
  const wanted = asked[0] === 'help' ? asked[1] : asked[0];
  for (const { name, description, load } of COMMANDS) {
    const command = name === wanted ? (await load())(terminal) : new Command(name);
    program.addCommand(command.description(description));
  }
  program.helpCommand(false);
  program
    .command('help')
    .argument('[topic...]')
    .description('help on a command, or on exit-codes')
    .action((topic: string[]) => showHelp(program, terminal, topic));
  return overrideExit(program, terminal, words.includes('--json'));
}

/** Runs a command line; sets the exit status of the process instead of ending it, so that output is not cut. */
export async function main(argv: string[], terminal: Terminal = processTerminal): Promise<void> {
  // A reader that has seen enough (`svc paste list | head`) is no failure.
  terminal.stdout.on('error', async (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') {
      process.exitCode = EXIT.done;
      return;
    }
    const { outputFailed, reportFailure } = await import('./report-failure.ts');
    process.exitCode = reportFailure(terminal, outputFailed(error), argv);
  });
  try {
    const program = await createProgram(terminal, argv.slice(2));
    await program.parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and version are answers, everything else commander has to say is wrong usage.
      process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
      if (error.exitCode === 0 || !argv.includes('--json')) return;
      const [{ reportFailure }, { usage }] = await Promise.all([
        import('./report-failure.ts'),
        import('./usage.ts'),
      ]);
      reportFailure(terminal, usage(error.message.replace(/^error: /, ''), 'see --help'), argv);
    } else {
      const { reportFailure } = await import('./report-failure.ts');
      process.exitCode = reportFailure(terminal, error, argv);
    }
  }
}

async function showHelp(program: Command, terminal: Terminal, topic: string[]): Promise<void> {
  if (topic[0] === 'exit-codes') {
    const { exitCodesText } = await import('./exit-codes-help.ts');
    terminal.stdout.write(exitCodesText());
    return;
  }
  let command = program;
  for (const name of topic) {
    const next = command.commands.find(
      (candidate) => candidate.name() === name || candidate.aliases().includes(name),
    );
    if (!next) program.error(`svc: there is no help on "${topic.join(' ')}"\nTry: svc --help`);
    else command = next;
  }
  command.outputHelp();
}

/** With --json what is wrong is said as JSON, by whoever catches it. */
function overrideExit(command: Command, terminal: Terminal, isJson: boolean): Command {
  command.exitOverride().configureOutput({
    writeOut: (text) => terminal.stdout.write(text),
    writeErr: (text) => {
      if (!isJson) terminal.stderr.write(text);
    },
    outputError: (text, write) => {
      if (isJson) return;
      const message = text.replace(/^error: /, 'svc: ');
      write(message.includes('Try: ') ? message : `${message.trimEnd()}\nTry: ${fullName(command)} --help\n`);
    },
  });
  for (const child of command.commands) overrideExit(child, terminal, isJson);
  return command;
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}
