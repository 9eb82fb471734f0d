// The rows that did not become what they say: all of them in a file, the first of them on the terminal.
import { closeSync, ftruncateSync, openSync, readSync, writeSync } from 'node:fs';
import { messageOf } from '../../platform/errors.ts';
import { toCsv } from '../../services/links/bulk/export-links.ts';
import type { ReportedRow } from '../../services/links/bulk/import-links.ts';
import { endProgress, note, type Terminal } from '../terminal.ts';
import { usage } from '../usage.ts';

export interface ImportReport {
  /** @param goesOn - whether it continues the report of a run that was interrupted */
  begin(goesOn: boolean): void;
  add(rows: readonly ReportedRow[]): void;
  /** Notes columns that mean nothing here; the terminal hears of them at the end. */
  ignore(names: readonly string[]): void;
  end(): void;
}

const COLUMNS = ['row', 'shortCode', 'originalUrl', 'reason'];
const HEADER = `${COLUMNS.join(',')}\n`;
const SHOWN = 20;
const SHOWN_CHARACTERS = 80;

/** Makes the report; the file is written at once, so that nothing of it is lost in an interruption. */
export function createImportReport(terminal: Terminal, path: string | undefined): ImportReport {
  let descriptor: number | undefined;
  let count = 0;
  const ignored: string[] = [];
  return {
    begin: (goesOn) => {
      if (path !== undefined) descriptor = openReport(path, goesOn);
    },
    add: (rows) => {
      if (rows.length === 0) return;
      if (descriptor !== undefined) writeSync(descriptor, toCsv(rows, COLUMNS));
      if (count < SHOWN) endProgress(terminal);
      for (const row of rows.slice(0, Math.max(0, SHOWN - count))) note(terminal, lineOf(row));
      count += rows.length;
    },
    ignore: (names) => {
      // A file may have as many names as it likes.
      if (ignored.length <= SHOWN) ignored.push(...names.slice(0, SHOWN + 1 - ignored.length));
    },
    end: () => {
      if (ignored.length > 0)
        note(terminal, `svc: left out, since links here have no such thing: ${listOf(ignored)}`);
      const more = count - SHOWN;
      const where = path === undefined ? '--report <file> writes all of them' : `all are in ${path}`;
      if (more > 0) note(terminal, `svc: and ${more} more rows; ${where}`);
      if (descriptor !== undefined) closeSync(descriptor);
      descriptor = undefined;
    },
  };
}

/**
 * Opens the file of the report: a new one, or an earlier report.
 *
 * @throws {Failure} USAGE (exit 2) when it is anything else, which must not be overwritten
 */
function openReport(path: string, goesOn: boolean): number {
  let descriptor: number | undefined;
  try {
    // Not `w`, which would empty a file before anybody has seen what it is.
    descriptor = openSync(path, 'a+', 0o600);
    const beginning = Buffer.alloc(HEADER.length);
    const length = readSync(descriptor, beginning, 0, beginning.length, 0);
    if (length > 0 && beginning.toString() !== HEADER) throw new Error('it is there already, and no report');
    if (!goesOn) ftruncateSync(descriptor);
    if (!goesOn || length === 0) writeSync(descriptor, HEADER);
    return descriptor;
  } catch (error) {
    if (descriptor !== undefined) closeSync(descriptor);
    throw usage(`the report ${path} cannot be written: ${messageOf(error)}`, 'name a new file');
  }
}

function lineOf({ row, shortCode, originalUrl, reason }: ReportedRow): string {
  const shown = [shortCode, originalUrl].filter((value) => value !== undefined).map(quoted);
  return `svc: row ${row}${shown.length > 0 ? ` (${shown.join(' ')})` : ''}: ${reason}`;
}

function listOf(names: readonly string[]): string {
  const shown = names.slice(0, SHOWN).map(quoted).join(', ');
  return names.length > SHOWN ? `${shown} and more` : shown;
}

/** Quoted as JSON, since a file may hold what would move the cursor of a terminal. */
function quoted(value: string): string {
  return JSON.stringify(value.slice(0, SHOWN_CHARACTERS)).replaceAll(/[^\x20-\x7e]/g, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
