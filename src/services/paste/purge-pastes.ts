// Removing expired pastes for good. The command and the scheduled job both call this.
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { type Lease, withLease } from '../../platform/lease.ts';
import type { Platform } from '../../platform/platform.ts';
import { announceGone } from './announce-gone.ts';

export interface PurgePlan {
  pastes: number;
  contentBytes: number;
  /** When the first and the last of them expired; null when there are none. */
  oldest: Date | null;
  newest: Date | null;
}

export interface PurgeResult {
  pastes: number;
  contentBytes: number;
  /** False when it was interrupted; a later run goes on where this one stopped. */
  complete: boolean;
}

export interface PurgeOptions {
  /** Only pastes that expired at least this long ago. */
  olderThanMs?: number | undefined;
  /** Who runs it, for whoever finds the lock held. */
  command: string;
  signal?: AbortSignal;
  /** Told after each batch how many are gone so far. */
  onProgress?: (purged: { pastes: number; contentBytes: number }) => void;
}

// A batch that takes about this long lets reads through between; each is measured and the next one sized by it.
const BATCH_TARGET_MS = 3;
const SMALLEST_BATCH = 10;
const LARGEST_BATCH = 1_000;

export const PURGE_LEASE = 'purge-pastes';

type PurgeParts = Pick<Platform, 'database' | 'clock' | 'ephemeral' | 'log'>;

/** What a purge would remove. Writes nothing. */
export async function planPurge({ database, clock }: PurgeParts, olderThanMs = 0): Promise<PurgePlan> {
  const row = await database
    .selectFrom('paste')
    .select(({ fn }) => [
      fn.countAll<number>().as('pastes'),
      sql<number>`coalesce(sum(size_bytes), 0)::bigint`.as('contentBytes'),
      fn.min('expiresAt').as('oldest'),
      fn.max('expiresAt').as('newest'),
    ])
    .where('expiresAt', '<=', new Date(clock.now() - olderThanMs))
    .executeTakeFirstOrThrow();
  return { ...row, oldest: row.oldest ?? null, newest: row.newest ?? null };
}

/**
 * Removes expired pastes in small batches under a lease, with pauses, so that readers do not wait for it.
 *
 * @throws {Failure} LEASE_HELD (exit 11) when another purge is running
 */
export async function purgePastes(parts: PurgeParts, options: PurgeOptions): Promise<PurgeResult> {
  return withLease(parts, { name: PURGE_LEASE, command: options.command }, (lease) =>
    purgeAll(parts, lease, options),
  );
}

async function purgeAll(
  parts: PurgeParts,
  lease: Lease,
  { olderThanMs = 0, signal, onProgress }: PurgeOptions,
): Promise<PurgeResult> {
  const expiredBy = new Date(parts.clock.now() - olderThanMs);
  const purged = { pastes: 0, contentBytes: 0 };
  let batchSize = 50;
  while (!signal?.aborted) {
    const startedAt = performance.now();
    const rows = await purgeBatch(parts, lease, expiredBy, batchSize);
    const tookMs = performance.now() - startedAt;
    purged.pastes += rows.length;
    purged.contentBytes += rows.reduce((sum, row) => sum + row.sizeBytes, 0);
    if (rows.length > 0) {
      onProgress?.(purged);
      await announceGone(parts, rows);
    }
    if (rows.length < batchSize) return { ...purged, complete: true };
    batchSize = Math.max(
      SMALLEST_BATCH,
      Math.min(LARGEST_BATCH, Math.round((batchSize * BATCH_TARGET_MS) / Math.max(1, tookMs))),
    );
    await pause(tookMs, undefined, { signal }).catch(() => undefined);
  }
  return { ...purged, complete: false };
}

async function purgeBatch({ database }: PurgeParts, lease: Lease, expiredBy: Date, batchSize: number) {
  return database.transaction().execute(async (transaction) => {
    await lease.renew(transaction);
    return transaction
      .deleteFrom('paste')
      .where('pasteKey', 'in', (query) =>
        query
          .selectFrom('paste')
          .select('pasteKey')
          .where('expiresAt', '<=', expiredBy)
          .orderBy('expiresAt')
          .orderBy('pasteKey')
          .limit(batchSize)
          .forUpdate()
          .skipLocked(),
      )
      .returning(['pasteId', 'pasteKey', 'sizeBytes'])
      .execute();
  });
}
