// A word where a URL was expected is a command with a slip in it, or a URL with something missing.
import type { Command } from 'commander';
import { usage } from '../usage.ts';

const MOST_SLIPS = 2;

/**
 * Refuses a first word that can be no URL, before any of the words is sent to a server.
 *
 * @throws {Failure} USAGE
 */
export function refuseWords(command: Command, [first = '']: readonly string[]): void {
  if (first.includes('://') || first.includes('.')) return;
  const names = command.commands.map((child) => child.name());
  const [nearest] = names
    .map((name) => ({ name, slips: slipsBetween(first.toLowerCase(), name) }))
    .filter(({ slips, name }) => slips <= Math.min(MOST_SLIPS, name.length - 2))
    .sort((a, b) => a.slips - b.slips);
  const hint = nearest ? `did you mean ${nearest.name}?` : 'a URL begins with http:// or https://';
  throw usage(`${first} is no URL${names.length > 0 ? ', and no command of this name is there' : ''}`, hint);
}

/** How many letters have to be put in, left out or changed to make one word of the other (Levenshtein). */
function slipsBetween(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [index, letter] of [...one].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= other.length; column++) {
      const changed = (row[column - 1] ?? 0) + (other[column - 1] === letter ? 0 : 1);
      next.push(Math.min(changed, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
