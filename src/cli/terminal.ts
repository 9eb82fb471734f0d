// What a command sees of the terminal: the answer goes to stdout, everything else to stderr, and questions are
// asked only where somebody can answer. Tests hand in their own.
import { Failure } from '../platform/errors.ts';
import { EXIT } from '../platform/exit-codes.ts';

export interface Terminal {
  env: Record<string, string | undefined>;
  stdin: NodeJS.ReadStream;
  stdout: NodeJS.WriteStream;
  stderr: NodeJS.WriteStream;
}

// Node opens each stream at its first use, and a command that asks for help needs only one of them.
export const processTerminal: Terminal = {
  env: process.env,
  get stdin() {
    return process.stdin;
  },
  get stdout() {
    return process.stdout;
  },
  get stderr() {
    return process.stderr;
  },
};

/** Whether somebody sits there who can be asked. Not being interactive never means yes. */
export function isInteractive(terminal: Terminal): boolean {
  return terminal.stderr.isTTY === true && terminal.stdin.isTTY === true;
}

/** Prints the answer, with a line end. */
export function print({ stdout }: Terminal, text: string): void {
  stdout.write(`${text}\n`);
}

/** Prints an answer as one line of JSON. */
export function printJson(terminal: Terminal, value: unknown): void {
  print(terminal, JSON.stringify(value));
}

/** Says something that is not the answer. */
export function note({ stderr }: Terminal, text: string): void {
  stderr.write(`${text}\n`);
}

/** A count of work under way on one line of a terminal; silent in pipes and logs. */
export function showProgress({ stderr }: Terminal, text: string): void {
  if (stderr.isTTY) stderr.write(`\r\u001b[2K${text}`);
}

/** Ends the line of `showProgress`. */
export function endProgress({ stderr }: Terminal): void {
  if (stderr.isTTY) stderr.write('\r\u001b[2K');
}

/**
 * Asks yes or no.
 *
 * @param flag the flag that answers it where nobody can: `--yes`
 * @throws {Failure} ANSWER_NEEDED (exit 2) when nobody can be asked; INTERRUPTED (exit 130) on Ctrl-C
 */
export async function confirm(terminal: Terminal, question: string, flag: string): Promise<boolean> {
  requireInteractive(terminal, question, flag);
  const { confirm: ask, isCancel } = await import('@clack/prompts');
  const answer = await ask({ message: question, initialValue: false, output: terminal.stderr });
  if (isCancel(answer)) throw interrupted();
  return answer;
}

/** Asks for a password without showing it; throws as `confirm` does. */
export async function askPassword(terminal: Terminal, question: string, flag: string): Promise<string> {
  requireInteractive(terminal, question, flag);
  const { password, isCancel } = await import('@clack/prompts');
  const answer = await password({ message: question, output: terminal.stderr });
  if (isCancel(answer)) throw interrupted();
  return answer;
}

function requireInteractive(terminal: Terminal, question: string, flag: string): void {
  if (isInteractive(terminal)) return;
  throw new Failure({
    code: 'ANSWER_NEEDED',
    message: `there is nobody to ask: ${question}`,
    hint: `answer it with ${flag}`,
    exit: EXIT.usage,
  });
}

function interrupted(): Failure {
  return new Failure({
    code: 'INTERRUPTED',
    message: 'interrupted',
    hint: 'nothing was done',
    exit: EXIT.interrupted,
  });
}
