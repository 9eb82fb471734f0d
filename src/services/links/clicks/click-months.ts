// The partitions that raw clicks lie in: one a month, made ahead of time, dropped whole when they are too old.
import { type Kysely, sql } from 'kysely';
import type { Database } from '../../../platform/database/connect.ts';
import type { Tables } from '../../../platform/database/tables.ts';
import { lockLedger } from './record-clicks.ts';

const MONTHS_AHEAD = 2;

interface Month {
  /** `click_2026_01`. */
  table: string;
  start: Date;
  /** Start of the month after. */
  end: Date;
}

/** Makes the partitions of this month and the next two, where they are missing. */
export async function makeClickMonths(database: Database, nowMs: number): Promise<void> {
  const months = Array.from({ length: MONTHS_AHEAD + 1 }, (_, index) => monthOf(nowMs, index));
  if ((await missing(database, months)).length === 0) return;
  await database.transaction().execute(async (transaction) => {
    // Two processes that start together must not make the same table.
    await lockLedger(transaction);
    for (const month of await missing(transaction, months)) await makeMonth(transaction, month);
  });
}

/** A month that came before its partition was made has its clicks among the others: they move. */
async function makeMonth(transaction: Kysely<Tables>, { table, start, end }: Month): Promise<void> {
  await sql`CREATE TABLE ${sql.table(table)} (LIKE click INCLUDING ALL)`.execute(transaction);
  await sql`
    WITH moved AS (DELETE FROM click_other WHERE clicked_at >= ${start} AND clicked_at < ${end} RETURNING *)
    INSERT INTO ${sql.table(table)} SELECT * FROM moved`.execute(transaction);
  await sql`
    ALTER TABLE click ATTACH PARTITION ${sql.table(table)}
    FOR VALUES FROM (${sql.lit(start.toISOString())}) TO (${sql.lit(end.toISOString())})`.execute(
    transaction,
  );
}

/**
 * Drops the partitions whose last click is older than `keepMs`, and such rows outside of any month. So a raw click
 * goes at the end of its month's time, not of its own.
 *
 * @returns names of the dropped partitions, and the rows removed one by one
 */
export async function dropOldClicks(
  database: Database,
  nowMs: number,
  keepMs: number,
): Promise<{ months: string[]; rows: number }> {
  const keepFrom = nowMs - keepMs;
  const dropped: string[] = [];
  for (const { table, end } of await existingMonths(database)) {
    if (end.getTime() > keepFrom) continue;
    await database.transaction().execute(async (transaction) => {
      await lockLedger(transaction);
      await sql`DROP TABLE ${sql.table(table)}`.execute(transaction);
    });
    dropped.push(table);
  }
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM click_other WHERE clicked_at < ${new Date(keepFrom)}`.execute(database);
  return { months: dropped, rows: Number(numAffectedRows) };
}

function monthOf(nowMs: number, offset: number): Month {
  const now = new Date(nowMs);
  const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1));
  const end = new Date(Date.UTC(start.getUTCFullYear(), start.getUTCMonth() + 1, 1));
  return { table: `click_${start.toISOString().slice(0, 7).replace('-', '_')}`, start, end };
}

async function missing(database: Kysely<Tables>, months: readonly Month[]): Promise<Month[]> {
  const existing = new Set((await existingMonths(database)).map(({ table }) => table));
  return months.filter(({ table }) => !existing.has(table));
}

/** The tables that raw clicks lie in. */
export async function clickTables(database: Kysely<Tables>): Promise<string[]> {
  const { rows } = await sql<{ name: string }>`
    SELECT child.relname AS name FROM pg_inherits JOIN pg_class child ON child.oid = inhrelid
    WHERE inhparent = 'click'::regclass ORDER BY 1`.execute(database);
  return rows.map(({ name }) => name);
}

async function existingMonths(database: Kysely<Tables>): Promise<Month[]> {
  return (await clickTables(database)).flatMap((table) => {
    const match = /^click_(\d{4})_(\d{2})$/.exec(table);
    return match ? [monthOf(Date.UTC(Number(match[1]), Number(match[2]) - 1), 0)] : [];
  });
}
