// Importing many links: in batches, each committed with how far it has come, so that an import that was interrupted
// goes on where it stopped.
import { type Lease, withLease } from '../../../platform/lease.ts';
import type { Platform } from '../../../platform/platform.ts';
import { type CheckedRow, checkRow, type Rules } from './check-row.ts';
import { type ImportCounts, noRows, readProgress, saveProgress, sumOf } from './import-progress.ts';
import { createPlanner } from './plan-batch.ts';
import type { SourceRow } from './source-row.ts';
import { type BatchOutcome, type OnConflict, writeBatch } from './write-batch.ts';

/** A row that did not become what it says. */
export interface ReportedRow {
  /** As `SourceRow.row`. */
  row: number;
  shortCode: string | undefined;
  originalUrl: string | undefined;
  reason: string;
  /** Refused; otherwise imported under a generated code, as the reason says. */
  isRefused: boolean;
}

/** Counts of this run alone. */
export interface ImportResult extends ImportCounts {
  /** What earlier runs had done of the same file. */
  earlier: ImportCounts;
  /** False when it was interrupted; the same file goes on where this stopped. */
  complete: boolean;
}

export interface ImportOptions {
  rows: AsyncIterable<SourceRow[]>;
  /** SHA-256 of the file: names the import, so that it can go on. */
  fileHash: string;
  reservedCodes: ReadonlySet<string>;
  onConflict?: OnConflict;
  /** Begins again though earlier runs have done some or all of the file. */
  restart?: boolean;
  /** Checks and counts, writes nothing. */
  dryRun?: boolean;
  /** Who runs it, for whoever finds the lock held. */
  command: string;
  signal?: AbortSignal;
  /** Told before the first row what earlier runs have done. */
  onStart?: (earlier: ImportCounts) => void;
  /** Told of the rows of a batch before it is committed: a row may be told of twice, never not at all. */
  onReport?: (rows: ReportedRow[]) => void;
  /** Told after each batch what this run has done. */
  onProgress?: (counts: ImportCounts) => void;
}

type ImportParts = Pick<Platform, 'database' | 'clock' | 'config'>;

const ROWS_A_BATCH = 2_000;
/** Rows that are passed over between two renewals of the lease. */
const SKIPPED_A_RENEWAL = 100_000;

/**
 * Imports links under a lease, from behind what earlier runs have done.
 *
 * @throws {Failure} LEASE_HELD (exit 11) when another import is running; what reading the rows throws
 */
export async function importLinks(parts: ImportParts, options: ImportOptions): Promise<ImportResult> {
  if (options.dryRun) return importRows(parts, options, undefined);
  return withLease(parts, { name: 'import-links', command: options.command }, (lease) =>
    importRows(parts, options, lease),
  );
}

async function importRows(
  parts: ImportParts,
  options: ImportOptions,
  lease: Lease | undefined,
): Promise<ImportResult> {
  const earlier = options.restart ? noRows() : await readProgress(parts.database, options.fileHash);
  options.onStart?.(earlier);
  const finish = lease ? committing(parts, options, lease) : planning(parts, options);
  let done = noRows();
  const batches = batchesOf(parts, options, earlier.rows, lease);
  // Reads and checks the next batch while the database writes this one.
  let ahead: ReturnType<typeof batches.next> | undefined;
  const readAhead = () => {
    ahead ??= batches.next();
    // It is awaited later; until then a failure is not an unhandled one.
    ahead.catch(() => {});
    return ahead;
  };
  try {
    for (;;) {
      const { value: batch, done: isEnd } = await readAhead();
      ahead = undefined;
      if (isEnd) return { ...done, earlier, complete: true };
      if (options.signal?.aborted) return { ...done, earlier, complete: false };
      done = await finish(batch, { done, earlier, readAhead });
      options.onProgress?.(done);
    }
  } finally {
    await batches.return(undefined);
  }
}

interface Batch {
  /** Rows that may become links. */
  links: CheckedRow[];
  refused: ReportedRow[];
}

async function* batchesOf(
  { clock, config, database }: ImportParts,
  { rows, reservedCodes }: ImportOptions,
  skip: number,
  lease: Lease | undefined,
): AsyncGenerator<Batch> {
  const rules = { ownHost: new URL(config.links.url).hostname, reservedCodes, now: new Date(clock.now()) };
  let batch: Batch = { links: [], refused: [] };
  let skipped = 0;
  for await (const some of rows) {
    for (const row of some) {
      if (skipped < skip) {
        skipped++;
        if (skipped % SKIPPED_A_RENEWAL === 0) await lease?.renew(database);
        continue;
      }
      sortInto(batch, row, rules);
      if (batch.links.length + batch.refused.length < ROWS_A_BATCH) continue;
      yield batch;
      batch = { links: [], refused: [] };
    }
  }
  if (batch.links.length + batch.refused.length > 0) yield batch;
}

function sortInto({ links, refused }: Batch, source: SourceRow, rules: Rules): void {
  const checked = checkRow(source, rules);
  if (typeof checked !== 'string') {
    links.push(checked);
    return;
  }
  const { shortCode, originalUrl } = source.fields;
  refused.push({ row: source.row, shortCode, originalUrl, reason: checked, isRefused: true });
}

interface SoFar {
  /** By this run. */
  done: ImportCounts;
  earlier: ImportCounts;
  /** To be called when there is nothing to do but wait. */
  readAhead: () => void;
}

/** Deals with a batch; answers the counts of this run with it. */
type Finish = (batch: Batch, soFar: SoFar) => Promise<ImportCounts>;

function committing({ database, clock }: ImportParts, options: ImportOptions, lease: Lease): Finish {
  const { fileHash, onConflict = 'refuse', onReport } = options;
  return (batch, { done, earlier, readAhead }) =>
    database.transaction().execute(async (transaction) => {
      await lease.renew(transaction);
      const writing = writeBatch(transaction, batch.links, onConflict);
      // By then the statement is on its way.
      setImmediate(readAhead);
      const outcome = await writing;
      const counts = sumOf(done, countsOf(batch, outcome));
      await saveProgress(transaction, fileHash, sumOf(earlier, counts), new Date(clock.now()));
      onReport?.(reportOf(batch, outcome));
      return counts;
    });
}

function planning({ database }: ImportParts, options: ImportOptions): Finish {
  const plan = createPlanner(database, options.onConflict ?? 'refuse');
  return async (batch, { done, readAhead }) => {
    const planned = plan(batch.links);
    setImmediate(readAhead);
    const outcome = await planned;
    options.onReport?.(reportOf(batch, outcome));
    return sumOf(done, countsOf(batch, outcome));
  };
}

function countsOf({ links, refused }: Batch, { imported, unchanged, conflicts }: BatchOutcome): ImportCounts {
  const inTheWay = conflicts.filter(({ renamed }) => renamed === undefined).length;
  return {
    rows: links.length + refused.length,
    imported,
    unchanged,
    refused: refused.length + inTheWay,
  };
}

function reportOf({ refused }: Batch, { conflicts }: BatchOutcome): ReportedRow[] {
  const reported = conflicts.map(({ row: { row, shortCode, originalUrl }, renamed }): ReportedRow => {
    const there = 'code leads elsewhere already';
    if (renamed === undefined) return { row, shortCode, originalUrl, reason: there, isRefused: true };
    const reason = `${there}; the link gets ${renamed === '' ? 'a generated code' : renamed}`;
    return { row, shortCode, originalUrl, reason, isRefused: false };
  });
  return [...refused, ...reported].sort((a, b) => a.row - b.row);
}
