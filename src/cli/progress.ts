// Progress of long commands: a line that is rewritten, or, for a machine, a JSON line now and then.
import { printJson, showProgress, type Terminal } from './terminal.ts';

const JSON_EVERY_MS = 1_000;

/**
 * Makes what is called with each step.
 *
 * @param inWords - the line of what is done
 * @param inJson - the members of the JSON line
 */
export function progressReporter<Done>(
  terminal: Terminal,
  { json, quiet }: { json: boolean; quiet: boolean },
  { inWords, inJson }: { inWords: (done: Done) => string; inJson: (done: Done) => object },
): (done: Done) => void {
  let lastAt = performance.now();
  return (done) => {
    if (!json) {
      if (!quiet) showProgress(terminal, inWords(done));
      return;
    }
    if (performance.now() - lastAt < JSON_EVERY_MS) return;
    lastAt = performance.now();
    printJson(terminal, { event: 'progress', ...inJson(done) });
  };
}
