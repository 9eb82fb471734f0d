// Which server a command talks to.
import type { Command } from 'commander';
import type { Config } from '../platform/config/config.ts';
import type { Terminal } from './terminal.ts';
import { usage } from './usage.ts';

export interface ServerChoice {
  /** Where the service is when nobody says otherwise. */
  fallback: string;
  /** Its public address in the configuration, for a file named by --config. */
  urlIn: (config: Config) => string;
}

/** The origin from --server (or its variable) or the file of settings; undefined when neither names one. */
export async function namedServer(
  terminal: Terminal,
  command: Command,
  { urlIn }: ServerChoice,
): Promise<string | undefined> {
  const { server, config } = command.optsWithGlobals<{ server?: string; config?: string }>();
  const named = server ?? (config === undefined ? undefined : urlIn(await configurationIn(terminal, config)));
  if (named === undefined) return undefined;
  if (!URL.canParse(named) || !/^https?:$/.test(new URL(named).protocol)) {
    throw usage(`${named} is not an origin`, 'it looks like https://example.org');
  }
  return new URL(named).origin;
}

/** The origin that a command talks to, named or not. */
export async function serverOf(terminal: Terminal, command: Command, choice: ServerChoice): Promise<string> {
  return (await namedServer(terminal, command, choice)) ?? choice.fallback;
}

async function configurationIn(terminal: Terminal, file: string): Promise<Config> {
  const [{ loadSettings }, { makeConfig }] = await Promise.all([
    import('../platform/config/load.ts'),
    import('../platform/config/config.ts'),
  ]);
  const { values } = loadSettings({ environment: terminal.env, file });
  return makeConfig({ ...values, DATABASE_URL: undefined }, 'command');
}
