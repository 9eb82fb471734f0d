// Door 1: the command tree. Loads commander and the short definitions of the commands; what a command needs to run
// is imported when it runs.
import { Command, CommanderError } from 'commander';
import { EXIT } from '../platform/exit-codes.ts';
import { configCommand } from './commands/config.ts';
import { explainCommand } from './commands/explain.ts';
import { healthcheckCommand } from './commands/healthcheck.ts';
import { jobsCommand } from './commands/jobs.ts';
import { migrateCommand } from './commands/migrate.ts';
import { pasteCommand } from './commands/paste.ts';
import { purgeCommand } from './commands/purge.ts';
import { serveCommand } from './commands/serve.ts';
import { exitCodesText } from './exit-codes-help.ts';
import { reportFailure } from './report-failure.ts';
import { processTerminal, type Terminal } from './terminal.ts';
import { VERSION } from './version.ts';

/** Makes the whole command tree. */
export function createProgram(terminal: Terminal): Command {
  const program = new Command('svc')
    .description('Pastes of your own: serve them, and look after them from the terminal.')
    .version(VERSION, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .showSuggestionAfterError()
    .configureHelp({ sortSubcommands: false, showGlobalOptions: false })
    .enablePositionalOptions()
    .addHelpText(
      'after',
      `
Examples:
  $ svc serve                     start everything, embedded, on http://localhost:3002
  $ echo hello | svc paste        create a paste, print its address
  $ svc purge pastes --dry-run    what a purge would remove

Exit status: svc help exit-codes`,
    );
  for (const make of [
    serveCommand,
    pasteCommand,
    migrateCommand,
    configCommand,
    purgeCommand,
    jobsCommand,
    healthcheckCommand,
    explainCommand,
  ]) {
    program.addCommand(make(terminal));
  }
  program.helpCommand(false);
  program
    .command('help [topic...]')
    .description('help on a command, or on exit-codes')
    .action((topic: string[]) => showHelp(program, terminal, topic));
  return overrideExit(program, terminal);
}

/** Runs a command line; sets the exit status of the process instead of ending it, so that output is not cut. */
export async function main(argv: string[], terminal: Terminal = processTerminal): Promise<void> {
  // A reader that has seen enough (`svc paste list | head`) is no failure.
  terminal.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
    process.exitCode = EXIT.done;
  });
  try {
    await createProgram(terminal).parseAsync(argv);
  } catch (error) {
    if (error instanceof CommanderError) {
      // Help and version are answers, everything else commander has to say is wrong usage.
      process.exitCode = error.exitCode === 0 ? EXIT.done : EXIT.usage;
    } else {
      process.exitCode = reportFailure(terminal, error, argv);
    }
  }
}

function showHelp(program: Command, terminal: Terminal, topic: string[]): void {
  if (topic[0] === 'exit-codes') {
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

function overrideExit(command: Command, terminal: Terminal): Command {
  command.exitOverride().configureOutput({
    writeOut: (text) => terminal.stdout.write(text),
    writeErr: (text) => terminal.stderr.write(text),
    outputError: (text, write) => {
      const message = text.replace(/^error: /, 'svc: ');
      write(message.includes('Try: ') ? message : `${message.trimEnd()}\nTry: ${fullName(command)} --help\n`);
    },
  });
  for (const child of command.commands) overrideExit(child, terminal);
  return command;
}

function fullName(command: Command): string {
  return command.parent ? `${fullName(command.parent)} ${command.name()}` : command.name();
}
