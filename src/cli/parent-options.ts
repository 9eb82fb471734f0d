// A parent command takes the options it shares with the command below it, wherever they stand on the line.
import type { Command } from 'commander';

/** Gives a command what its parents were given of its own options (`svc link import links.csv --json`). */
export function adoptParentOptions(command: Command): void {
  for (const option of command.options) {
    const name = option.attributeName();
    if (command.getOptionValueSource(name) === 'cli') continue;
    for (let parent = command.parent; parent !== null; parent = parent.parent) {
      if (parent.getOptionValueSource(name) !== 'cli') continue;
      command.setOptionValueWithSource(name, parent.getOptionValue(name), 'cli');
      break;
    }
  }
}
