// `svc accounts`: look after the accounts of the kanban service.
import { Command } from 'commander';
import {
  configOption,
  dataDirOption,
  debugOption,
  dryRunOption,
  jsonOption,
  quietOption,
  yesOption,
} from '../options.ts';
import type { Terminal } from '../terminal.ts';

const ACCOUNT = ['<account>', 'email address or id'] as const;

/** The command and its subcommands. */
export function accountsCommand(terminal: Terminal): Command {
  const accounts = new Command('accounts');
  accounts.addCommand(
    onDatabase('list', 'every account, one a line')
      .addOption(jsonOption())
      .action(async (_options, command: Command) => (await actions()).runList(terminal, command))
      .addHelpText(
        'after',
        '\nExamples:\n  $ svc accounts list\n  $ svc accounts list --json | jq -r .email\n\nExit status: 0 done.',
      ),
  );
  accounts.addCommand(
    onDatabase('show', 'what is known of an account')
      .argument(...ACCOUNT)
      .addOption(jsonOption())
      .action(async (who: string, _options, command: Command) =>
        (await actions()).runShow(terminal, command, who),
      )
      .addHelpText(
        'after',
        '\nExamples:\n  $ svc accounts show ada@example.org\n\nExit status: 0 done, 1 no such account, 2 the question could not be asked.',
      ),
  );
  accounts.addCommand(
    onDatabase('unlock', 'end the wait that failed logins caused')
      .argument(...ACCOUNT)
      .action(async (who: string, _options, command: Command) =>
        (await actions()).runUnlock(terminal, command, who),
      )
      .addHelpText(
        'after',
        '\nExamples:\n  $ svc accounts unlock ada@example.org\n\nExit status: 0 done, 1 no such account, 2 the question could not be asked.',
      ),
  );
  accounts.addCommand(
    onDatabase('disable-2fa', 'remove the second factor of somebody who lost theirs')
      .argument(...ACCOUNT)
      .addOption(yesOption())
      .action(async (who: string, _options, command: Command) =>
        (await actions()).runDisable2fa(terminal, command, who),
      )
      .addHelpText(
        'after',
        '\nSee that it is them who ask.\n\nExamples:\n  $ svc accounts disable-2fa ada@example.org\n\nExit status: 0 done, 1 no such account, 2 the question could not be asked.',
      ),
  );
  accounts.addCommand(
    onDatabase('delete', 'delete an account, as its owner could')
      .argument(...ACCOUNT)
      .addOption(yesOption())
      .action(async (who: string, _options, command: Command) =>
        (await actions()).runDelete(terminal, command, who),
      )
      .addHelpText(
        'after',
        '\nIts keys are shredded at once; its rows go after ACCOUNT_DELETE_AFTER.\n\nExamples:\n  $ svc accounts delete ada@example.org\n\nExit status: 0 done, 1 no such account, 2 the question could not be asked.',
      ),
  );
  accounts.addCommand(
    onDatabase('purge', 'remove the rows of accounts deleted ACCOUNT_DELETE_AFTER ago')
      .addOption(dryRunOption())
      .addOption(yesOption())
      .addOption(jsonOption())
      .addOption(quietOption())
      .action(async (_options, command: Command) => {
        const [{ runPurge }, { ACCOUNTS }] = await Promise.all([
          import('../purge/run-purge.ts'),
          import('../purge/purge-accounts.ts'),
        ]);
        await runPurge(terminal, command, ACCOUNTS);
      })
      .addHelpText(
        'after',
        '\nThe scheduler of svc serve does the same every hour.\n\nExamples:\n  $ svc accounts purge --dry-run\n  $ svc accounts purge --yes\n\nExit status: 0 done, 2 the question could not be asked, 3 interrupted, 11 another purge runs.',
      ),
  );
  return accounts;
}

const actions = () => import('../accounts/run-accounts.ts');

function onDatabase(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(configOption())
    .addOption(dataDirOption())
    .addOption(debugOption());
}
