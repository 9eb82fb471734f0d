// The pastes made from this machine, with their delete tokens: a file for its owner alone, only ever appended to,
// so that commands that run at the same time cannot lose each other's lines.
import { appendFileSync, chmodSync, mkdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { codeOf } from '../platform/errors.ts';

export interface OwnPaste {
  pasteId: string;
  url: string;
  title: string | null;
  language: string;
  deleteToken: string;
  createdAt: string;
  expiresAt: string;
  burnAfterRead: boolean;
  hasPassword: boolean;
}

export interface OwnPastes {
  pastes: OwnPaste[];
  /** Lines that could not be understood; the others are not lost for it. */
  damagedLines: number;
}

type Environment = Record<string, string | undefined>;

/** Where the list is: `$XDG_STATE_HOME/svc/pastes.jsonl`. */
export function ownPastesPath(env: Environment): string {
  return join(env.XDG_STATE_HOME || join(env.HOME || homedir(), '.local', 'state'), 'svc', 'pastes.jsonl');
}

/** Adds a paste to the list. */
export function rememberPaste(env: Environment, paste: OwnPaste): void {
  append(env, paste);
}

/** Takes a paste off the list. */
export function forgetPaste(
  env: Environment,
  { url, deleteToken }: Pick<OwnPaste, 'url' | 'deleteToken'>,
): void {
  // The token tells it from a later paste that was given the same address.
  append(env, { forgotten: url, deleteToken });
}

/** The list, oldest first. */
export function ownPastes(env: Environment): OwnPastes {
  const pastes = new Map<string, OwnPaste>();
  let damagedLines = 0;
  for (const line of linesOf(ownPastesPath(env))) {
    const entry = parse(line);
    if (!entry) damagedLines++;
    else if ('forgotten' in entry) pastes.delete(entry.deleteToken);
    else pastes.set(entry.deleteToken, entry);
  }
  return { pastes: [...pastes.values()], damagedLines };
}

function append(env: Environment, entry: object): void {
  const path = ownPastesPath(env);
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

function parse(line: string): OwnPaste | { forgotten: string; deleteToken: string } | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    if (typeof entry !== 'object' || entry === null || !('deleteToken' in entry)) return undefined;
    const { deleteToken } = entry;
    if (typeof deleteToken !== 'string') return undefined;
    if ('forgotten' in entry) return { forgotten: String(entry.forgotten), deleteToken };
    const { url, pasteId, expiresAt } = entry as Partial<OwnPaste>;
    if (typeof url !== 'string' || typeof pasteId !== 'string' || typeof expiresAt !== 'string')
      return undefined;
    return entry as OwnPaste;
  } catch {
    return undefined;
  }
}
