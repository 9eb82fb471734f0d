// A batch of checked rows becomes links: one statement for those whose codes are free, one for their clicks.
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../../platform/database/tables.ts';
import { IMPORTED } from '../clicks/tally.ts';
import { generateCode } from '../create-link.ts';
import { insertLinks } from '../insert-links.ts';
import type { CheckedRow } from './check-row.ts';

/** What becomes of a row whose code leads elsewhere: it is refused, or gets a generated code. */
export type OnConflict = 'refuse' | 'rename';

export interface BatchOutcome {
  imported: number;
  unchanged: number;
  /** Rows whose code leads elsewhere: refused, or, as `renamed` tells, imported under another. */
  conflicts: Array<{ row: CheckedRow; renamed?: string }>;
}

/** Writes a batch inside a transaction. */
export async function writeBatch(
  transaction: Kysely<Tables>,
  rows: readonly CheckedRow[],
  onConflict: OnConflict,
): Promise<BatchOutcome> {
  const outcome: BatchOutcome = { imported: 0, unchanged: 0, conflicts: [] };
  const renamed = new Map<number, CheckedRow>();
  let pending = rows;
  while (pending.length > 0) {
    // Of several rows with one code the first gets it.
    const firsts = new Map<string, CheckedRow>();
    for (const row of pending) if (!firsts.has(row.shortCode)) firsts.set(row.shortCode, row);
    const linkKeys = await insertLinks(transaction, [...firsts.values()]);
    await writeClicks(transaction, firsts, linkKeys);
    outcome.imported += linkKeys.size;
    for (const { row, shortCode } of firsts.values()) {
      const original = linkKeys.has(shortCode) ? renamed.get(row) : undefined;
      if (original) outcome.conflicts.push({ row: original, renamed: shortCode });
    }

    const left = pending.filter((row) => !linkKeys.has(row.shortCode) || firsts.get(row.shortCode) !== row);
    const destinations = await destinationsOf(transaction, left);
    const again: CheckedRow[] = [];
    for (const row of left) {
      const known = destinations.get(row.shortCode);
      // Deleted since it was in the way.
      if (known === undefined) again.push(row);
      else if (row.isGenerated) again.push({ ...row, shortCode: generateCode() });
      else if (known === row.originalUrl) outcome.unchanged++;
      else if (onConflict === 'refuse') outcome.conflicts.push({ row });
      else {
        renamed.set(row.row, row);
        again.push({ ...row, shortCode: generateCode(), isGenerated: true });
      }
    }
    pending = again;
  }
  return outcome;
}

/** Where the links lead that have the codes of these rows. */
export async function destinationsOf(
  database: Kysely<Tables>,
  rows: readonly CheckedRow[],
): Promise<Map<string, string>> {
  if (rows.length === 0) return new Map();
  const found = await database
    .selectFrom('link')
    .select(['shortCode', 'originalUrl'])
    .where('shortCode', '=', ({ fn, val }) => fn.any(val(rows.map((row) => row.shortCode))))
    .execute();
  return new Map(found.map(({ shortCode, originalUrl }) => [shortCode, originalUrl]));
}

/**
 * The total that a link brings along; when its clicks were and whose, nobody knows any more. Over all links they are
 * counted under a dimension of their own.
 */
async function writeClicks(
  transaction: Kysely<Tables>,
  rows: ReadonlyMap<string, CheckedRow>,
  linkKeys: ReadonlyMap<string, number>,
): Promise<void> {
  const clicked = [...linkKeys].flatMap(([shortCode, linkKey]) => {
    const clicks = rows.get(shortCode)?.clicks ?? 0;
    return clicks > 0 ? [{ linkKey, clicks }] : [];
  });
  if (clicked.length === 0) return;
  await sql`
    WITH summary AS (
      INSERT INTO click_summary (link_key, clicks, names)
      SELECT link_key, clicks, '{}' FROM unnest(
        ${clicked.map(({ linkKey }) => linkKey)}::bigint[],
        ${clicked.map(({ clicks }) => clicks)}::bigint[]) AS t (link_key, clicks)
      RETURNING clicks
    )
    INSERT INTO click_name_count (dimension, name, clicks)
    SELECT ${IMPORTED}, 'total', sum(clicks) FROM summary
    ON CONFLICT (dimension, name) DO UPDATE SET clicks = click_name_count.clicks + excluded.clicks`.execute(
    transaction,
  );
}
