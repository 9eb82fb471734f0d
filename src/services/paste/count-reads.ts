// Counted reads: exact and durable before they are answered, and many of them in one statement and one commit.
import { sql } from 'kysely';
import { Batcher } from '../../platform/batcher.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Database } from '../../platform/database/connect.ts';
import type { StoredPaste } from './stored-paste.ts';

export interface ReadRequest {
  pasteId: string;
  /** Key of the paste the asking process has in memory; undefined when it needs the rest of the row. */
  cachedKey: number | undefined;
}

/** A read that was counted; `paste` unless it was in memory. Or nothing that can be read without further ado. */
export type CountedRead =
  | { counted: true; pasteKey: number; viewCount: number; paste: StoredPaste | undefined }
  | { counted: false };

// One batch waits for its commit while the next is being made; more would only lock each other's rows.
const CONCURRENT_BATCHES = 2;
const MOST_READS = 500;

interface Row {
  pasteKey: number;
  pasteId: string;
  viewCount: number;
  title: string | null;
  /** Null when nobody in the batch asked for it. */
  content: string | null;
  language: string;
  createdAt: Date;
  expiresAt: Date;
  sizeBytes: number;
}

/** Makes the counter of a process. */
export function createReadCounter(database: Database, clock: Clock): Batcher<ReadRequest, CountedRead> {
  return new Batcher({
    concurrency: CONCURRENT_BATCHES,
    maxBatch: MOST_READS,
    run: (requests) => countReads(database, new Date(clock.now()), requests),
  });
}

/**
 * Counts a batch of reads of live pastes that have no password and are not burned by reading.
 *
 * Every read of a paste gets its own number: of three reads that brought a count to 10, one is told 8, one 9, one 10.
 */
export async function countReads(
  database: Database,
  now: Date,
  requests: ReadRequest[],
): Promise<CountedRead[]> {
  const wanted = new Map<string, { reads: number; keys: Set<number | undefined> }>();
  for (const { pasteId, cachedKey } of requests) {
    const entry = wanted.get(pasteId) ?? { reads: 0, keys: new Set() };
    entry.reads++;
    entry.keys.add(cachedKey);
    wanted.set(pasteId, entry);
  }
  const rows = await updateCounts(database, now, wanted);
  const byId = new Map(
    rows.map((row) => [
      row.pasteId,
      { row, next: row.viewCount - (wanted.get(row.pasteId)?.reads ?? 0) + 1 },
    ]),
  );
  return requests.map(({ pasteId, cachedKey }) => {
    const found = byId.get(pasteId);
    if (!found) return { counted: false };
    const { row } = found;
    const paste =
      cachedKey === row.pasteKey || row.content === null ? undefined : storedPaste(row, row.content);
    return { counted: true, pasteKey: row.pasteKey, viewCount: found.next++, paste };
  });
}

async function updateCounts(
  database: Database,
  now: Date,
  wanted: Map<string, { reads: number; keys: Set<number | undefined> }>,
): Promise<Row[]> {
  const ids = [...wanted.keys()];
  const reads = [...wanted.values()].map((entry) => entry.reads);
  // The one key that everybody in this process has in memory; content is sent only when it is another one.
  const cachedKeys = [...wanted.values()].map(({ keys }) =>
    keys.size === 1 ? ([...keys][0] ?? null) : null,
  );
  // Locking in order of the key keeps two processes, with the same pastes in their batches, from a deadlock.
  const { rows } = await sql<Row>`
    WITH wanted AS (
      SELECT * FROM unnest(${ids}::text[], ${reads}::int[], ${cachedKeys}::bigint[]) AS w(paste_id, reads, cached_key)
    ), readable AS (
      SELECT paste.paste_key, wanted.reads, wanted.cached_key
      FROM paste JOIN wanted USING (paste_id)
      WHERE paste.expires_at > ${now} AND NOT paste.burn_after_read AND paste.password_hash IS NULL
      ORDER BY paste.paste_key
      FOR NO KEY UPDATE OF paste
    )
    UPDATE paste SET view_count = paste.view_count + readable.reads
    FROM readable WHERE paste.paste_key = readable.paste_key
    RETURNING paste.paste_key, paste.paste_id, paste.view_count, paste.title, paste.language,
      paste.created_at, paste.expires_at, paste.size_bytes,
      CASE WHEN readable.cached_key IS DISTINCT FROM paste.paste_key THEN paste.content END AS content`.execute(
    database,
  );
  return rows;
}

function storedPaste(
  { pasteKey, pasteId, title, language, createdAt, expiresAt, sizeBytes }: Row,
  content: string,
): StoredPaste {
  return {
    pasteKey,
    pasteId,
    title,
    content,
    language,
    createdAt,
    expiresAt,
    burnAfterRead: false,
    sizeBytes,
  };
}
