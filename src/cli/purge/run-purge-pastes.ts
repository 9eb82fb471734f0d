// What `svc purge pastes` does: the plan, the question, the purge with its progress, the result.
import type { Command } from 'commander';
import { EXIT } from '../../platform/exit-codes.ts';
import { type PurgePlan, planPurge, purgePastes } from '../../services/paste/purge-pastes.ts';
import { confirm, endProgress, note, print, printJson, showProgress, type Terminal } from '../terminal.ts';
import { interruptible, withPlatform } from '../with-platform.ts';

interface PurgeFlags {
  dryRun?: boolean;
  yes?: boolean;
  olderThan?: number;
  json?: boolean;
  quiet?: boolean;
}

/** Removes expired pastes. */
export async function runPurgePastes(terminal: Terminal, command: Command): Promise<void> {
  const {
    dryRun = false,
    yes = false,
    olderThan = 0,
    json = false,
    quiet = false,
  } = command.opts<PurgeFlags>();
  await withPlatform(terminal, command, 'svc purge pastes', async (platform) => {
    const plan = await planPurge(platform, olderThan);
    if (dryRun)
      return json
        ? printJson(terminal, { dryRun: true, ...plan })
        : print(terminal, `would remove ${describe(plan)}`);
    if (plan.pastes > 0 && !yes) {
      note(terminal, `To be removed: ${describe(plan)}`);
      if (!(await confirm(terminal, 'Remove them for good?', '--yes')))
        return note(terminal, 'nothing was removed');
    }
    const interrupt = interruptible();
    const startedAt = performance.now();
    const result = await purgePastes(platform, {
      olderThanMs: olderThan,
      command: 'svc purge pastes',
      signal: interrupt.signal,
      onProgress: ({ pastes }) => {
        if (!quiet) showProgress(terminal, `${pastes} of ${plan.pastes} removed`);
      },
    }).finally(interrupt.done);
    endProgress(terminal);
    const durationMs = Math.round(performance.now() - startedAt);
    if (json) printJson(terminal, { ...result, durationMs });
    else if (!quiet)
      print(
        terminal,
        `removed ${result.pastes} pastes, ${bytes(result.contentBytes)}, in ${(durationMs / 1000).toFixed(1)} s`,
      );
    if (!result.complete) {
      note(terminal, 'interrupted; run the same command again to go on');
      process.exitCode = EXIT.partial;
    }
  });
}

function describe({ pastes, contentBytes, oldest, newest }: PurgePlan): string {
  if (pastes === 0 || !oldest || !newest) return 'nothing: no paste has expired';
  return `${pastes} pastes, ${bytes(contentBytes)}, expired between ${oldest.toISOString()} and ${newest.toISOString()}`;
}

function bytes(count: number): string {
  if (count < 1024) return `${count} bytes`;
  return count < 1024 ** 2 ? `${(count / 1024).toFixed(1)} KiB` : `${(count / 1024 ** 2).toFixed(1)} MiB`;
}
