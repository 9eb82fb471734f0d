// Writing new links, and counting them for the statistics: many creations in one statement and one commit.
import { type Insertable, type Kysely, sql } from 'kysely';
import { Batcher } from '../../platform/batcher.ts';
import type { Database } from '../../platform/database/connect.ts';
import type { LinkTable, Tables } from '../../platform/database/tables.ts';

export type NewLinkRow = Omit<Insertable<LinkTable>, 'linkKey'>;

const MOST_LINKS = 200;

/** Makes the inserter of a process. */
export function createInserter(database: Database): Batcher<NewLinkRow, boolean> {
  return new Batcher({
    // All of them count in the row of today: a second batch would only wait for the first.
    concurrency: 1,
    maxBatch: MOST_LINKS,
    run: async (rows) => {
      const written = await insertLinks(database, rows);
      // Of several rows with one code only the first can be the one that was written.
      return rows.map(({ shortCode }) => written.delete(shortCode));
    },
  });
}

/**
 * Writes links, in one statement, and counts those that were written.
 *
 * @returns the key of each link that was written, by its code: not those whose code another link has
 */
export async function insertLinks(
  database: Kysely<Tables>,
  rows: readonly NewLinkRow[],
): Promise<Map<string, number>> {
  // In order of the code, so that batches of two processes that want the same codes wait for each other instead of
  // deadlocking.
  const ordered = rows.toSorted((a, b) => (a.shortCode < b.shortCode ? -1 : 1));
  const { rows: inserted } = await sql<{ shortCode: string; linkKey: number }>`
    WITH inserted AS (
      INSERT INTO link (short_code, original_url, created_at, expires_at, password_hash, delete_token_hash)
      SELECT * FROM unnest(
        ${ordered.map((row) => row.shortCode)}::text[],
        ${ordered.map((row) => row.originalUrl)}::text[],
        ${momentsOf(ordered.map((row) => row.createdAt))}::timestamptz[],
        ${momentsOf(ordered.map((row) => row.expiresAt))}::timestamptz[],
        ${ordered.map((row) => row.passwordHash ?? null)}::text[],
        ${ordered.map((row) => row.deleteTokenHash ?? null)}::bytea[])
      ON CONFLICT (short_code) DO NOTHING
      RETURNING short_code, link_key, created_at
    ), counted AS (
      INSERT INTO link_day_count (day, count)
      SELECT (created_at AT TIME ZONE 'UTC')::date AS day, count(*) FROM inserted GROUP BY day ORDER BY day
      ON CONFLICT (day) DO UPDATE SET count = link_day_count.count + excluded.count
    )
    SELECT short_code, link_key FROM inserted`.execute(database);
  return new Map(inserted.map(({ shortCode, linkKey }) => [shortCode, linkKey]));
}

/** Times as PostgreSQL writes an array of them: the driver takes several times as long for each. */
function momentsOf(moments: ReadonlyArray<Date | null | undefined>): string {
  return `{${moments.map((moment) => moment?.toISOString() ?? 'NULL').join(',')}}`;
}
