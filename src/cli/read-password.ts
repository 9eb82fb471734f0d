// Passwords for a command: from a prompt, stdin, or a variable; never from the command line alone.
import { readStream, readWholeFile } from './read-input.ts';
import { askPassword, type Terminal } from './terminal.ts';
import { usage } from './usage.ts';

export interface PasswordFlags {
  password?: boolean;
  passwordStdin?: boolean;
}

/**
 * The password a command was given, if any.
 *
 * @param variable - `PASTE_PASSWORD`; with `_FILE` behind it, a file that holds it
 * @param stdinIsContent - whether stdin is read for something else
 */
export async function readPassword(
  terminal: Terminal,
  { password, passwordStdin }: PasswordFlags,
  variable: string,
  stdinIsContent: boolean,
): Promise<string | undefined> {
  if (passwordStdin) {
    if (stdinIsContent)
      throw usage('stdin cannot be both the input and the password', `name a file, or set ${variable}_FILE`);
    return withoutLineEnd((await readStream(terminal.stdin)).toString());
  }
  const value = terminal.env[variable];
  if (value) return value;
  const file = terminal.env[`${variable}_FILE`];
  if (file) return withoutLineEnd((await readWholeFile(file)).toString());
  return password ? askPassword(terminal, 'Password', `--password-stdin or ${variable}_FILE`) : undefined;
}

function withoutLineEnd(text: string): string {
  return text.replace(/\r?\n$/, '');
}
