// What `svc link import` does: reads the file, shows progress, reports what was refused, says how it ended.
import type { Command } from 'commander';
import { EXIT } from '../../platform/exit-codes.ts';
import { type ImportResult, importLinks } from '../../services/links/bulk/import-links.ts';
import type { ImportCounts } from '../../services/links/bulk/import-progress.ts';
import { readRows } from '../../services/links/bulk/read-rows.ts';
import type { OnConflict } from '../../services/links/bulk/write-batch.ts';
import { RESERVED_CODES } from '../../services/links/reserved-codes.ts';
import { adoptParentOptions } from '../parent-options.ts';
import { progressReporter } from '../progress.ts';
import { endProgress, note, print, printJson, type Terminal } from '../terminal.ts';
import { interruptible, withPlatform } from '../with-platform.ts';
import { createImportReport } from './import-report.ts';
import { openImportSource } from './import-source.ts';

interface ImportFlags {
  onConflict: OnConflict;
  report?: string;
  restart?: boolean;
  dryRun?: boolean;
  json?: boolean;
  quiet?: boolean;
}

/** Imports links from a file. */
export async function runImport(terminal: Terminal, command: Command, file: string): Promise<void> {
  adoptParentOptions(command);
  const flags = command.opts<ImportFlags>();
  const { dryRun = false, restart = false, json = false, quiet = false, onConflict } = flags;
  await using source = await openImportSource(terminal, file);
  const report = createImportReport(terminal, flags.report);
  await withPlatform(
    terminal,
    command,
    'svc link import',
    async (platform) => {
      const interrupt = interruptible();
      const startedAt = performance.now();
      const result = await importLinks(platform, {
        rows: readRows(source.read(), { onIgnored: quiet ? undefined : report.ignore }),
        fileHash: source.hash,
        reservedCodes: RESERVED_CODES,
        onConflict,
        restart,
        dryRun,
        command: 'svc link import',
        signal: interrupt.signal,
        onStart: (earlier) => {
          report.begin(earlier.rows > 0);
          if (earlier.rows > 0 && !quiet) note(terminal, `${inWords(earlier.rows)} rows were done before`);
        },
        onReport: report.add,
        onProgress: progressOf(terminal, { json, quiet }),
      }).finally(() => {
        interrupt.done();
        endProgress(terminal);
        report.end();
      });
      const durationMs = Math.round(performance.now() - startedAt);
      if (json) printJson(terminal, { event: 'result', dryRun, ...result, durationMs });
      else print(terminal, summaryOf(result, { dryRun, durationMs }));
      if (!result.complete) note(terminal, `interrupted: ${howToGoOn(dryRun)}`);
      const refused = result.refused + result.earlier.refused;
      if (!result.complete || refused > 0) process.exitCode = EXIT.partial;
    },
    { dryRun },
  );
}

function progressOf(terminal: Terminal, flags: { json: boolean; quiet: boolean }) {
  return progressReporter<ImportCounts>(terminal, flags, {
    inWords: ({ rows, imported, refused }) =>
      `${inWords(rows)} rows: ${inWords(imported)} imported, ${inWords(refused)} refused`,
    inJson: ({ rows, imported, unchanged, refused }) => ({ rows, imported, unchanged, refused }),
  });
}

function summaryOf(
  { rows, imported, unchanged, refused, earlier, complete }: ImportResult,
  { dryRun, durationMs }: { dryRun: boolean; durationMs: number },
): string {
  if (complete && rows === 0) return nothingToDo(earlier);
  const done = dryRun ? 'would import' : 'imported';
  return [
    `${done} ${inWords(imported)} of ${inWords(rows)} rows in ${(durationMs / 1000).toFixed(1)} s`,
    `${inWords(unchanged)} ${dryRun ? 'are' : 'were'} there already`,
    `${inWords(refused)} ${dryRun ? 'would be' : 'were'} refused`,
  ].join('; ');
}

function nothingToDo({ rows, imported, refused }: ImportCounts): string {
  if (rows === 0) return 'nothing to import: the file holds no rows';
  const before = `${inWords(imported)} of its ${inWords(rows)} rows imported, ${inWords(refused)} refused`;
  return `nothing to do: this file was imported before (${before}; --restart begins again)`;
}

function howToGoOn(dryRun: boolean): string {
  return dryRun ? 'nothing was written' : 'run the same command again to go on';
}

function inWords(count: number): string {
  return count.toLocaleString('en');
}
