// `svc explain`: more about an error code or an exit status.
import { Command } from 'commander';
import type { Terminal } from '../terminal.ts';

/** The command. */
export function explainCommand(terminal: Terminal): Command {
  return new Command('explain')
    .argument('[code]', 'a code such as SCHEMA_BEHIND')
    .action(async (code: string | undefined) => {
      const { runExplain } = await import('../explain/run-explain.ts');
      runExplain(terminal, code);
    })
    .addHelpText(
      'after',
      '\nExamples:\n  $ svc explain DATA_DIR_HELD\n  $ svc explain                list every code\n\nExit status: 0 done, 2 no such code.',
    );
}
