// What `svc webhooks` does.
import type { Command } from 'commander';
import { Failure } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import { listAllWebhooks, testWebhook } from '../../services/kanban/webhooks/administer-webhooks.ts';
import { print, printJson, type Terminal } from '../terminal.ts';
import { withPlatform } from '../with-platform.ts';

/** Lists webhooks. */
export async function runListWebhooks(terminal: Terminal, command: Command): Promise<void> {
  const { json = false, board } = command.opts<{ json?: boolean; board?: string }>();
  await withPlatform(terminal, command, 'svc webhooks list', async (platform) => {
    for (const webhook of await listAllWebhooks(platform, board)) {
      if (json) {
        printJson(terminal, webhook);
        continue;
      }
      const { id, url, enabled, verbs, pending, dead } = webhook;
      const state = enabled ? 'enabled ' : 'disabled';
      print(
        terminal,
        `${id}  ${state}  ${pending} pending, ${dead} dead  ${url}  ${verbs.join(',') || 'all verbs'}`,
      );
    }
  });
}

/** Sends a webhook a test message. */
export async function runTestWebhook(terminal: Terminal, command: Command, id: string): Promise<void> {
  const { json = false } = command.opts<{ json?: boolean }>();
  await withPlatform(terminal, command, 'svc webhooks test', async (platform) => {
    const result = await testWebhook(platform, id);
    if (!result) {
      throw new Failure({
        code: 'NO_SUCH_WEBHOOK',
        message: `there is no webhook ${id}`,
        hint: 'svc webhooks list shows them all',
        exit: EXIT.failed,
      });
    }
    const { url, attempt } = result;
    if (json) printJson(terminal, result);
    else print(terminal, `${url} ${attempt.status ?? attempt.error ?? '?'} in ${attempt.durationMs} ms`);
    if (!result.isTaken) process.exitCode = EXIT.failed;
  });
}
