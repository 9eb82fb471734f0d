// What `svc accounts` does. It goes to the database; nobody here can read what an account encrypted.
import type { Command } from 'commander';
import { Failure } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import type { Platform } from '../../platform/platform.ts';
import {
  type AccountRecord,
  findAccount,
  listAccounts,
  unlockAccount,
} from '../../services/kanban/accounts/administer.ts';
import { deleteAccount } from '../../services/kanban/accounts/delete-account.ts';
import { removeTotp } from '../../services/kanban/accounts/totp.ts';
import { type KanbanService, openKanbanService } from '../../services/kanban/kanban-service.ts';
import { confirm, note, print, printJson, type Terminal } from '../terminal.ts';
import { withPlatform } from '../with-platform.ts';

/** Lists all accounts, one a line. */
export async function runList(terminal: Terminal, command: Command): Promise<void> {
  const { json = false } = command.opts<{ json?: boolean }>();
  await withPlatform(terminal, command, 'svc accounts list', async (platform) => {
    for await (const account of listAccounts(platform)) {
      if (json) printJson(terminal, account);
      else print(terminal, `${account.id}  ${account.email}  ${stateOf(account)}`);
    }
  });
}

/** Shows one account. */
export async function runShow(terminal: Terminal, command: Command, who: string): Promise<void> {
  const { json = false } = command.opts<{ json?: boolean }>();
  await withPlatform(terminal, command, 'svc accounts show', async (platform) => {
    const account = await requireAccount(platform, who);
    if (json) return printJson(terminal, account);
    print(terminal, `id          ${account.id}`);
    print(terminal, `email       ${account.email}`);
    print(terminal, `registered  ${account.createdAt.toISOString()}`);
    print(terminal, `state       ${stateOf(account)}`);
    print(terminal, `workspaces  ${account.workspaces}`);
    print(terminal, `sessions    ${account.sessions}`);
  });
}

/** Ends the wait that failed logins caused. */
export async function runUnlock(terminal: Terminal, command: Command, who: string): Promise<void> {
  await withPlatform(terminal, command, 'svc accounts unlock', async (platform) => {
    const { email } = await requireAccount(platform, who);
    const wasLocked = await unlockAccount(platform, email);
    print(terminal, wasLocked ? `${email} can sign in again` : `${email} was not held up`);
  });
}

/** Removes the second factor of who lost theirs. */
export async function runDisable2fa(terminal: Terminal, command: Command, who: string): Promise<void> {
  await administer(terminal, command, 'svc accounts disable-2fa', who, async (service, account) => {
    if (!account.totpEnabled) return print(terminal, `${account.email} has no second factor`);
    if (!(await agreed(terminal, command, `Remove the second factor of ${account.email}?`))) return;
    await removeTotp(service, account.id);
    print(terminal, `${account.email} signs in without a second factor`);
  });
}

/** Deletes an account, as its owner could. */
export async function runDelete(terminal: Terminal, command: Command, who: string): Promise<void> {
  await administer(terminal, command, 'svc accounts delete', who, async (service, account) => {
    if (account.deletedAt) return print(terminal, `${account.email} is deleted already`);
    note(
      terminal,
      `Its keys are shredded at once: nobody can bring back what only ${account.email} could read.`,
    );
    if (!(await agreed(terminal, command, `Delete ${account.email}?`))) return;
    const { purgeAfter } = await deleteAccount(service, account.id);
    print(terminal, `${account.email} is deleted; its rows go after ${purgeAfter.toISOString()}`);
  });
}

async function administer(
  terminal: Terminal,
  command: Command,
  commandName: string,
  who: string,
  work: (service: KanbanService, account: AccountRecord) => Promise<void>,
): Promise<void> {
  await withPlatform(terminal, command, commandName, async (platform) => {
    const account = await requireAccount(platform, who);
    const service = await openKanbanService(platform);
    await work(service, account).finally(() => service.close());
  });
}

async function agreed(terminal: Terminal, command: Command, question: string): Promise<boolean> {
  const { yes = false } = command.opts<{ yes?: boolean }>();
  if (yes || (await confirm(terminal, question, '--yes'))) return true;
  note(terminal, 'nothing was changed');
  return false;
}

async function requireAccount(platform: Platform, who: string): Promise<AccountRecord> {
  const account = await findAccount(platform, who);
  if (account) return account;
  throw new Failure({
    code: 'NO_SUCH_ACCOUNT',
    message: `there is no account ${who}`,
    hint: 'svc accounts list shows them all',
    exit: EXIT.failed,
  });
}

function stateOf({ deletedAt, purgeAfter, totpEnabled }: AccountRecord): string {
  if (deletedAt) return `deleted, rows go after ${purgeAfter?.toISOString() ?? '?'}`;
  return totpEnabled ? 'active, second factor' : 'active';
}
