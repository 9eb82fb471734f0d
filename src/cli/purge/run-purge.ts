// What `svc purge …` does, whatever is purged: the plan, the question, the purge with its progress, the result.
import type { Command } from 'commander';
import { EXIT } from '../../platform/exit-codes.ts';
import type { Platform } from '../../platform/platform.ts';
import { progressReporter } from '../progress.ts';
import { confirm, endProgress, note, print, printJson, type Terminal } from '../terminal.ts';
import { interruptible, withPlatform } from '../with-platform.ts';

interface PurgeFlags {
  dryRun?: boolean;
  yes?: boolean;
  olderThan?: number;
  json?: boolean;
  quiet?: boolean;
}

export interface PurgeKind<Plan, Done extends object> {
  /** `svc purge pastes`. */
  commandName: string;
  plan: (platform: Platform, olderThanMs: number | undefined) => Promise<Plan>;
  isEmpty: (plan: Plan) => boolean;
  /** The plan in words: what, how many, oldest, newest. */
  describe: (plan: Plan) => string;
  purge: (
    platform: Platform,
    options: {
      olderThanMs: number | undefined;
      command: string;
      signal: AbortSignal;
      onProgress: (done: Done) => void;
    },
  ) => Promise<Done & { complete: boolean }>;
  /** What is done, in words. */
  summarize: (done: Done) => string;
}

/** Purges one kind of thing. */
export async function runPurge<Plan extends object, Done extends object>(
  terminal: Terminal,
  command: Command,
  kind: PurgeKind<Plan, Done>,
): Promise<void> {
  const { dryRun = false, yes = false, olderThan, json = false, quiet = false } = command.opts<PurgeFlags>();
  const run = async (platform: Platform) => {
    const plan = await kind.plan(platform, olderThan);
    if (dryRun) {
      if (json) printJson(terminal, { dryRun: true, ...plan });
      else print(terminal, `would remove ${kind.describe(plan)}`);
      return;
    }
    if (!kind.isEmpty(plan) && !yes) {
      note(terminal, `To be removed: ${kind.describe(plan)}`);
      if (!(await confirm(terminal, 'Remove them for good?', '--yes')))
        return note(terminal, 'nothing was removed');
    }
    const interrupt = interruptible();
    const startedAt = performance.now();
    const result = await kind
      .purge(platform, {
        olderThanMs: olderThan,
        command: kind.commandName,
        signal: interrupt.signal,
        onProgress: progressReporter<Done>(
          terminal,
          { json, quiet },
          { inWords: (done) => `${kind.summarize(done)} removed`, inJson: (done) => done },
        ),
      })
      .finally(interrupt.done);
    endProgress(terminal);
    const durationMs = Math.round(performance.now() - startedAt);
    if (json) printJson(terminal, { event: 'result', ...result, durationMs });
    else if (!quiet)
      print(terminal, `removed ${kind.summarize(result)}, in ${(durationMs / 1000).toFixed(1)} s`);
    if (!result.complete) {
      note(terminal, 'interrupted; run the same command again to go on');
      process.exitCode = EXIT.partial;
    }
  };
  await withPlatform(terminal, command, kind.commandName, run, { dryRun });
}
