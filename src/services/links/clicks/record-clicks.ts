// Writing a batch of clicks down: the raw rows and every count of them in one transaction, so that they agree.
import { type Kysely, sql } from 'kysely';
import type { NameCounts, Tables } from '../../../platform/database/tables.ts';
import { CLICK_COLUMNS, type ClickBatch, SEPARATOR } from './click-batch.ts';
import {
  addNames,
  addTallies,
  GLOBAL_DIMENSIONS,
  type LinkTally,
  type Names,
  namesFromRow,
  namesToJson,
} from './tally.ts';

type Transaction = Kysely<Tables>;

/**
 * Locks the ledger for the rest of a transaction. Who counts clicks or removes links holds it, so counts that were
 * read can be written back, and no click of a link that is gone is written.
 *
 * @returns how far the journal has been written down; undefined when somebody else holds the lock and `wait` is false
 */
export async function lockLedger(transaction: Transaction, wait = true): Promise<string | undefined> {
  const query = transaction.selectFrom('clickLedger').select('journalPosition').forUpdate();
  const row = await (wait ? query : query.skipLocked()).executeTakeFirst();
  return row?.journalPosition;
}

/**
 * Records batches of clicks inside a transaction that holds the ledger. Clicks of links that are gone are left out.
 *
 * @returns how many were written, and which links are there
 */
export async function recordClicks(
  transaction: Transaction,
  batches: readonly ClickBatch[],
): Promise<{ clicks: number; linkKeys: ReadonlySet<number> }> {
  const tallies: Map<number, LinkTally> = new Map();
  for (const batch of batches) addTallies(tallies, batch.tallies);
  const { rows } = await sql<{ linkKey: number; clicks: number | null; names: NameCounts | null }>`
    SELECT link.link_key, click_summary.clicks, click_summary.names
    FROM unnest(${columnOf([...tallies.keys()])}::bigint[]) AS wanted (link_key)
    JOIN link USING (link_key) LEFT JOIN click_summary USING (link_key)`.execute(transaction);
  const summaries = rows.map((row) => ({ ...row, names: namesFromRow(row.names) }));
  const linkKeys = new Set(rows.map(({ linkKey }) => linkKey));
  const gone = [...tallies.keys()].filter((linkKey) => !linkKeys.has(linkKey));
  for (const linkKey of gone) tallies.delete(linkKey);
  if (tallies.size === 0) return { clicks: 0, linkKeys };

  let clicks = 0;
  for (const summary of summaries) {
    const tally = tallies.get(summary.linkKey);
    if (!tally) continue;
    clicks += tally.clicks;
    summary.clicks = (summary.clicks ?? 0) + tally.clicks;
    addNames(summary.names, tally.names);
  }
  await writeClicks(transaction, { batches, gone, summaries, tallies });
  return { clicks, linkKeys };
}

interface Writing {
  batches: readonly ClickBatch[];
  /** Links whose clicks are left out. */
  gone: readonly number[];
  summaries: ReadonlyArray<{ linkKey: number; clicks: number | null; names: Names }>;
  tallies: ReadonlyMap<number, LinkTally>;
}

async function writeClicks(
  transaction: Transaction,
  { batches, gone, summaries, tallies }: Writing,
): Promise<void> {
  const raw = CLICK_COLUMNS.map((_, index) => batches.map(({ columns }) => columns[index]).join(SEPARATOR));
  const values = (index: number) => sql`string_to_array(${raw[index] ?? ''}, ${SEPARATOR})`;
  const days = [...tallies].flatMap(([linkKey, tally]) =>
    [...tally.days].map(([day, count]) => ({ linkKey, day, count })),
  );
  const names = countsOverAllLinks(tallies);
  await sql`
    WITH raw AS (
      INSERT INTO click (link_key, clicked_at, browser, operating_system, device, referrer_host, address_hash)
      SELECT link_key, to_timestamp(clicked_at / 1000), browser, operating_system, device, referrer_host, address_hash
      FROM unnest(
        ${values(0)}::bigint[], ${values(1)}::double precision[], ${values(2)}, ${values(3)}, ${values(4)},
        ${values(5)}, ${values(6)}
      ) AS t (link_key, clicked_at, browser, operating_system, device, referrer_host, address_hash)
      WHERE link_key <> ALL(${columnOf(gone)}::bigint[])
    ), summary AS (
      INSERT INTO click_summary (link_key, clicks, names)
      SELECT * FROM unnest(
        ${columnOf(summaries.map(({ linkKey }) => linkKey))}::bigint[],
        ${columnOf(summaries.map(({ clicks }) => clicks ?? 0))}::bigint[],
        string_to_array(${summaries.map((summary) => namesToJson(summary.names)).join(SEPARATOR)}, ${SEPARATOR})::jsonb[])
      ON CONFLICT (link_key) DO UPDATE SET clicks = excluded.clicks, names = excluded.names
    ), by_day AS (
      INSERT INTO click_day (link_key, day, clicks)
      SELECT * FROM unnest(
        ${columnOf(days.map(({ linkKey }) => linkKey))}::bigint[],
        ${columnOf(days.map(({ day }) => day))}::date[],
        ${columnOf(days.map(({ count }) => count))}::bigint[])
      ON CONFLICT (link_key, day) DO UPDATE SET clicks = click_day.clicks + excluded.clicks
    )
    INSERT INTO click_name_count (dimension, name, clicks)
    SELECT * FROM unnest(
      ${names.map(({ dimension }) => dimension)}::text[],
      ${names.map(({ name }) => name)}::text[],
      ${columnOf(names.map(({ count }) => count))}::bigint[])
    ON CONFLICT (dimension, name) DO UPDATE SET clicks = click_name_count.clicks + excluded.clicks`.execute(
    transaction,
  );
}

/** Numbers and dates as PostgreSQL writes an array of them: the driver would look at each for what to escape. */
function columnOf(values: ReadonlyArray<number | string>): string {
  return `{${values.join(',')}}`;
}

function countsOverAllLinks(
  live: ReadonlyMap<number, LinkTally>,
): Array<{ dimension: string; name: string; count: number }> {
  const all: Names = new Map();
  for (const { names } of live.values()) addNames(all, names);
  return GLOBAL_DIMENSIONS.flatMap((dimension) =>
    [...(all.get(dimension) ?? [])].map(([name, count]) => ({ dimension, name, count })),
  );
}
