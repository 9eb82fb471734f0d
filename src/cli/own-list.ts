// What was made from this machine, with its delete tokens: a file for its owner alone, only ever appended to, so that
// commands that run at the same time cannot lose each other's lines.
import { appendFileSync, chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { codeOf } from '../platform/errors.ts';

export interface OwnThing {
  /** Public address. */
  url: string;
  /** Origin of the server that made it, as this machine reached it; the public address may be another. */
  server?: string;
  deleteToken: string;
}

export interface OwnList<Thing extends OwnThing> {
  /** Adds a thing. */
  remember(env: Environment, thing: Thing): void;
  /** Takes a thing off the list. */
  forget(env: Environment, thing: OwnThing): void;
  /** The list, oldest first. */
  read(env: Environment): OwnThings<Thing>;
}

export interface OwnThings<Thing> {
  things: Thing[];
  /** Lines that could not be understood; the others are not lost for it. */
  damagedLines: number;
}

type Environment = Record<string, string | undefined>;

/**
 * Makes the list of one kind of thing.
 *
 * @param fileName - of the list, below `$XDG_STATE_HOME/svc`
 * @param texts - members without which a line is damaged, beside address and token
 */
export function ownList<Thing extends OwnThing>(
  fileName: string,
  texts: ReadonlyArray<keyof Thing & string>,
): OwnList<Thing> {
  const pathIn = (env: Environment) =>
    join(env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state'), 'svc', fileName);
  return {
    remember: (env, thing) => append(pathIn(env), thing),
    // The token tells it from a later thing that was given the same address.
    forget: (env, { url, deleteToken }) => append(pathIn(env), { forgotten: url, deleteToken }),
    read: (env) => {
      const things = new Map<string, Thing>();
      let damagedLines = 0;
      for (const line of linesOf(pathIn(env))) {
        const entry = parse<Thing>(line, ['url', ...texts]);
        if (!entry) damagedLines++;
        else if ('forgotten' in entry) things.delete(entry.deleteToken);
        else things.set(entry.deleteToken, entry);
      }
      return { things: [...things.values()], damagedLines };
    },
  };
}

/** Whether a thing was made by the server at an origin. */
export function isFrom({ url, server }: OwnThing, origin: string): boolean {
  return server === origin || new URL(url).origin === origin;
}

function append(path: string, entry: object): void {
  mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
  appendFileSync(path, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
  // The mode above holds for a new file only.
  chmodSync(path, 0o600);
}

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line !== '');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function parse<Thing extends OwnThing>(
  line: string,
  texts: readonly string[],
): Thing | { forgotten: string; deleteToken: string } | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry !== 'object' || entry === null) return undefined;
    const members = entry as Record<string, unknown>;
    if (typeof members.deleteToken !== 'string') return undefined;
    if ('forgotten' in members) {
      return { forgotten: String(members.forgotten), deleteToken: members.deleteToken };
    }
    return texts.every((name) => typeof members[name] === 'string') ? (entry as Thing) : undefined;
  } catch {
    return undefined;
  }
}
