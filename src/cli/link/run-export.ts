// What `svc link export` does: every link to stdout, or to a new file that is whole or not there.
import { once } from 'node:events';
import { open, unlink } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Command } from 'commander';
import { codeOf, messageOf } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import type { Platform } from '../../platform/platform.ts';
import {
  type ExportFormat,
  type ExportOptions,
  exportLinks,
} from '../../services/links/bulk/export-links.ts';
import { adoptParentOptions } from '../parent-options.ts';
import { endProgress, note, printJson, showProgress, type Terminal } from '../terminal.ts';
import { usage } from '../usage.ts';
import { interruptible, withPlatform } from '../with-platform.ts';

interface ExportFlags {
  format?: ExportFormat;
  withSecrets?: boolean;
  json?: boolean;
  quiet?: boolean;
}

/** Exports every link. */
export async function runExport(
  terminal: Terminal,
  command: Command,
  file: string | undefined,
): Promise<void> {
  adoptParentOptions(command);
  const flags = command.opts<ExportFlags>();
  const options = { format: formatOf(flags, file), withSecrets: flags.withSecrets ?? false };
  await withPlatform(terminal, command, 'svc link export', (platform) =>
    file === undefined
      ? exportToStdout(terminal, platform, options)
      : exportToFile(terminal, platform, { ...options, ...flags, file, format: options.format }),
  );
}

function formatOf({ format, json = false }: ExportFlags, file: string | undefined): ExportFormat {
  if (file !== undefined) {
    const isJson = ['.json', '.ndjson', '.jsonl'].includes(extname(file).toLowerCase());
    return format ?? (isJson ? 'json' : 'csv');
  }
  if (json && format === 'csv') throw usage('--json and --format csv do not agree', 'leave one of them out');
  return json ? 'json' : (format ?? 'csv');
}

async function exportToStdout(
  { stdout }: Terminal,
  platform: Platform,
  options: ExportOptions,
): Promise<void> {
  for await (const { text } of exportLinks(platform, options)) {
    if (stdout.write(text)) continue;
    // A reader that is slow is waited for; one that has seen enough ends the export.
    const gone = new AbortController();
    await Promise.race([
      once(stdout, 'drain', { signal: gone.signal }),
      once(stdout, 'close', { signal: gone.signal }),
    ])
      .catch(() => undefined)
      .finally(() => gone.abort());
    if (stdout.destroyed) return;
  }
}

async function exportToFile(
  terminal: Terminal,
  platform: Platform,
  { file, quiet = false, json = false, ...options }: ExportOptions & ExportFlags & { file: string },
): Promise<void> {
  const handle = await open(file, 'wx', 0o600).catch((error: unknown) => {
    const reason = codeOf(error) === 'EEXIST' ? 'it is there already' : messageOf(error);
    throw usage(`${file} cannot be written: ${reason}`, 'name a new file');
  });
  const interrupt = interruptible();
  let isWhole = false;
  let links = 0;
  try {
    for await (const page of exportLinks(platform, options)) {
      if (interrupt.signal.aborted) break;
      await handle.writeFile(page.text);
      links += page.links;
      if (!quiet) showProgress(terminal, `${links.toLocaleString('en')} links`);
    }
    await handle.sync();
    isWhole = !interrupt.signal.aborted;
  } finally {
    interrupt.done();
    endProgress(terminal);
    await handle.close();
    // Half an export looks like a whole one.
    if (!isWhole) await unlink(file);
  }
  if (!isWhole) {
    note(terminal, `interrupted: ${file} was removed, since it was not whole`);
    process.exitCode = interrupt.interruptedBy() === 'SIGTERM' ? EXIT.terminated : EXIT.interrupted;
  } else if (json) printJson(terminal, { file, format: options.format, links });
  else if (!quiet) note(terminal, `exported ${links.toLocaleString('en')} links to ${file}`);
}
