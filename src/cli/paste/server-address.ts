// Which server a paste command talks to, and which paste an argument names.
import type { Command } from 'commander';
import { Failure } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import type { Terminal } from '../terminal.ts';

const DEFAULT_SERVER = 'http://localhost:3002';

/** The origin from --server, PASTE_URL, the file of settings, or the fallback; in that order. */
export async function serverOf(
  terminal: Terminal,
  command: Command,
  fallback: string = DEFAULT_SERVER,
): Promise<string> {
  const { server, config } = command.optsWithGlobals<{ server?: string; config?: string }>();
  const fromFile =
    server === undefined && config !== undefined ? await pasteUrlIn(terminal, config) : undefined;
  const origin = server ?? fromFile ?? fallback;
  if (!URL.canParse(origin) || !/^https?:$/.test(new URL(origin).protocol)) {
    throw usage(`${origin} is not an origin`, 'it looks like https://paste.example.org');
  }
  return new URL(origin).origin;
}

export interface NamedPaste {
  pasteId: string;
  /** Set when the argument was a whole address. */
  origin: string | undefined;
}

/** Reads `Xk4pQ7mNz2`, `https://paste.example.org/Xk4pQ7mNz2` or its raw form. */
export function namedPaste(argument: string): NamedPaste {
  const url = URL.canParse(argument) ? new URL(argument) : undefined;
  const pasteId = url ? url.pathname.replace(/^\/(raw\/)?/, '') : argument;
  if (!/^[a-zA-Z0-9_-]{4,32}$/.test(pasteId)) {
    throw usage(`${argument} names no paste`, 'give its id or its address');
  }
  return { pasteId, origin: url?.origin };
}

async function pasteUrlIn(terminal: Terminal, file: string): Promise<string> {
  const [{ loadSettings }, { makeConfig }] = await Promise.all([
    import('../../platform/config/load.ts'),
    import('../../platform/config/config.ts'),
  ]);
  const { values } = loadSettings({ environment: terminal.env, file });
  return makeConfig({ ...values, DATABASE_URL: undefined }, 'command').paste.url;
}

/** A failure of the command line itself (exit 2). */
export function usage(message: string, hint: string): Failure {
  return new Failure({ code: 'USAGE', message, hint, exit: EXIT.usage });
}
