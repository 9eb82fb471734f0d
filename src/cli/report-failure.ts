// How a command says that it failed: what, why, and what to do; one JSON object with --json; a stack with --debug only.
import { codeOf, Failure, messageOf } from '../platform/errors.ts';
import { EXIT } from '../platform/exit-codes.ts';
import { note, type Terminal } from './terminal.ts';

/** Reports a failure on stderr. Returns the exit status. */
export function reportFailure(terminal: Terminal, error: unknown, argv: string[]): number {
  const failure = error instanceof Failure ? error : unforeseen(error);
  const options = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length);
  if (options.includes('--json')) {
    const { code, message, hint, exit } = failure;
    note(terminal, JSON.stringify({ code, message, hint, exit }));
  } else {
    note(terminal, `svc: ${failure.message}\nTry: ${failure.hint}`);
  }
  if (options.includes('--debug')) note(terminal, stackOf(error));
  return failure.exit;
}

/** The failure of an answer that could not be written. */
export function outputFailed(error: unknown): Failure {
  return new Failure({
    code: 'OUTPUT_FAILED',
    message: `the answer cannot be written: ${messageOf(error)}`,
    hint: 'see whether the disk it goes to has room',
    exit: EXIT.failed,
    cause: error,
  });
}

function unforeseen(error: unknown): Failure {
  return new Failure({
    code: codeOf(error) ?? 'FAILED',
    message: messageOf(error),
    hint: 'run the command again with --debug to see where it happened',
    exit: EXIT.failed,
    cause: error,
  });
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause === undefined
    ? String(error.stack)
    : `${error.stack}\nCaused by: ${stackOf(error.cause)}`;
}
