// Removing links that expired long ago, for good. The command and the scheduled job both call this.
import { setTimeout as pause } from 'node:timers/promises';
import { type Lease, withLease } from '../../platform/lease.ts';
import type { Platform } from '../../platform/platform.ts';
import { announceGone } from './announce-gone.ts';
import { removeClickBatch, removeLinks } from './clicks/remove-clicks.ts';

export interface LinkPurgePlan {
  links: number;
  clicks: number;
  /** When the first and the last of them expired; null when there are none. */
  oldest: Date | null;
  newest: Date | null;
}

export interface LinkPurgeResult {
  links: number;
  /** Raw click rows. */
  clicks: number;
  /** False when it was interrupted; a later run goes on where this one stopped. */
  complete: boolean;
}

export interface LinkPurgeOptions {
  /** Only links that expired at least this long ago; LINKS_KEEP_EXPIRED unless told otherwise. */
  olderThanMs?: number | undefined;
  /** Who runs it, for whoever finds the lock held. */
  command: string;
  signal?: AbortSignal;
  /** Told after each batch how much is gone so far. */
  onProgress?: (purged: { links: number; clicks: number }) => void;
}

const LINKS_A_BATCH = 200;

type PurgeParts = Pick<Platform, 'database' | 'clock' | 'ephemeral' | 'log' | 'config'>;

/** What a purge would remove. Writes nothing. */
export async function planLinkPurge(
  { database, clock, config }: PurgeParts,
  olderThanMs = config.links.keepExpiredMs,
): Promise<LinkPurgePlan> {
  const row = await database
    .selectFrom('link')
    .leftJoin('clickSummary', 'clickSummary.linkKey', 'link.linkKey')
    .select(({ fn }) => [
      fn.countAll<number>().as('links'),
      fn.sum<number | null>('clicks').as('clicks'),
      fn.min('expiresAt').as('oldest'),
      fn.max('expiresAt').as('newest'),
    ])
    .where('expiresAt', '<=', new Date(clock.now() - olderThanMs))
    .executeTakeFirstOrThrow();
  return { ...row, clicks: Number(row.clicks ?? 0), oldest: row.oldest ?? null, newest: row.newest ?? null };
}

/**
 * Removes expired links with their clicks, in small batches under a lease, with pauses, so that redirects do not wait
 * for it. Goes on with clicks of deleted links that another process left behind.
 *
 * @throws {Failure} LEASE_HELD (exit 11) when another purge is running
 */
export async function purgeLinks(parts: PurgeParts, options: LinkPurgeOptions): Promise<LinkPurgeResult> {
  return withLease(parts, { name: 'purge-links', command: options.command }, (lease) =>
    purgeAll(parts, lease, options),
  );
}

async function purgeAll(
  parts: PurgeParts,
  lease: Lease,
  { olderThanMs = parts.config.links.keepExpiredMs, signal, onProgress }: LinkPurgeOptions,
): Promise<LinkPurgeResult> {
  const expiredBy = new Date(parts.clock.now() - olderThanMs);
  const purged = { links: 0, clicks: 0 };
  let linksLeft = true;
  let clicksLeft = true;
  while ((linksLeft || clicksLeft) && !signal?.aborted) {
    const startedAt = performance.now();
    if (linksLeft) {
      const shortCodes = await purgeBatch(parts, lease, expiredBy);
      purged.links += shortCodes.length;
      linksLeft = shortCodes.length === LINKS_A_BATCH;
      if (shortCodes.length > 0) await announceGone(parts, shortCodes);
    } else {
      await lease.renew(parts.database);
      const { rows, done } = await removeClickBatch(parts);
      purged.clicks += rows;
      clicksLeft = !done;
    }
    onProgress?.(purged);
    await pause(Math.max(5, performance.now() - startedAt), undefined, { signal }).catch(() => undefined);
  }
  return { ...purged, complete: !linksLeft && !clicksLeft };
}

async function purgeBatch({ database, clock }: PurgeParts, lease: Lease, expiredBy: Date): Promise<string[]> {
  return database.transaction().execute(async (transaction) => {
    await lease.renew(transaction);
    const rows = await transaction
      .selectFrom('link')
      .select('linkKey')
      .where('expiresAt', '<=', expiredBy)
      .orderBy('expiresAt')
      .orderBy('linkKey')
      .limit(LINKS_A_BATCH)
      .execute();
    const linkKeys = rows.map(({ linkKey }) => linkKey);
    return linkKeys.length === 0 ? [] : removeLinks(transaction, linkKeys, new Date(clock.now()));
  });
}
