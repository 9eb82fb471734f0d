// Writing new pastes, and counting them for the statistics: many creations in one statement and one commit.
import { randomInt } from 'node:crypto';
import { type Insertable, sql } from 'kysely';
import { Batcher } from '../../platform/batcher.ts';
import type { Database } from '../../platform/database/connect.ts';
import type { PasteTable } from '../../platform/database/tables.ts';

export type NewPasteRow = Omit<Insertable<PasteTable>, 'pasteKey' | 'viewCount'>;

const CONCURRENT_BATCHES = 2;
const MOST_PASTES = 100;
const MOST_BYTES = 2 * 1024 * 1024;
// Batches that race add to different rows of the same count; more shards than that many seldom race.
const COUNT_SHARDS = 8;

/** Makes the inserter of a process. */
export function createInserter(database: Database): Batcher<NewPasteRow, boolean> {
  return new Batcher({
    concurrency: CONCURRENT_BATCHES,
    maxBatch: MOST_PASTES,
    size: { of: (row) => row.sizeBytes, maxBytes: MOST_BYTES },
    run: (rows) => insertPastes(database, rows),
  });
}

/**
 * Writes pastes, in one statement, and counts those that were written.
 *
 * @returns for each row whether it was written: not, when a live paste has its id; an expired one makes room
 */
export async function insertPastes(database: Database, rows: NewPasteRow[]): Promise<boolean[]> {
  // Two rows of a batch with one id: the first may get it, the second cannot. And in order of the id, so that
  // batches of two processes that want the same ids wait for each other instead of deadlocking.
  const unique = [...new Map(rows.toReversed().map((row) => [row.pasteId, row])).values()];
  unique.sort((a, b) => (a.pasteId < b.pasteId ? -1 : 1));
  const shard = randomInt(COUNT_SHARDS);
  const inserted = await database
    .with('inserted', (query) =>
      query
        .insertInto('paste')
        .values(unique)
        .onConflict((conflict) =>
          conflict
            .column('pasteId')
            .doUpdateSet(({ ref }) => ({
              pasteKey: sql<number>`DEFAULT`,
              title: ref('excluded.title'),
              content: ref('excluded.content'),
              language: ref('excluded.language'),
              createdAt: ref('excluded.createdAt'),
              expiresAt: ref('excluded.expiresAt'),
              viewCount: 0,
              burnAfterRead: ref('excluded.burnAfterRead'),
              sizeBytes: ref('excluded.sizeBytes'),
              passwordHash: ref('excluded.passwordHash'),
              deleteTokenHash: ref('excluded.deleteTokenHash'),
            }))
            .whereRef('paste.expiresAt', '<=', 'excluded.createdAt'),
        )
        .returning(['paste.pasteId', 'paste.language', 'paste.createdAt']),
    )
    .with('byLanguage', (query) =>
      query
        .insertInto('pasteLanguageCount')
        .columns(['language', 'shard', 'count'])
        .expression(({ selectFrom, fn }) =>
          selectFrom('inserted')
            .select([
              'language',
              sql<number>`${shard}::smallint`.as('shard'),
              fn.countAll<number>().as('count'),
            ])
            .groupBy('language')
            .orderBy('language'),
        )
        .onConflict((conflict) =>
          conflict
            .columns(['language', 'shard'])
            .doUpdateSet({ count: sql<number>`paste_language_count.count + excluded.count` }),
        ),
    )
    .with('byDay', (query) =>
      query
        .insertInto('pasteDayCount')
        .columns(['day', 'shard', 'count'])
        .expression(({ selectFrom, fn }) =>
          selectFrom('inserted')
            .select([
              sql<string>`(created_at AT TIME ZONE 'UTC')::date`.as('day'),
              sql<number>`${shard}::smallint`.as('shard'),
              fn.countAll<number>().as('count'),
            ])
            .groupBy('day')
            .orderBy('day'),
        )
        .onConflict((conflict) =>
          conflict
            .columns(['day', 'shard'])
            .doUpdateSet({ count: sql<number>`paste_day_count.count + excluded.count` }),
        ),
    )
    .selectFrom('inserted')
    .select('pasteId')
    .execute();

  const written = new Set(inserted.map(({ pasteId }) => pasteId));
  // Of several rows with one id only the first can be the one that was written.
  return rows.map(({ pasteId }) => written.delete(pasteId));
}
