// Deliveries as operators look after them: all of them, whosever they are.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import { inTransaction } from '../../../platform/database/in-transaction.ts';
import type { DeliveryStatus } from '../../../platform/database/kanban-tables.ts';
import type { Tables } from '../../../platform/database/tables.ts';
import { withLease } from '../../../platform/lease.ts';
import type { Platform } from '../../../platform/platform.ts';
import { DELIVERY, type Delivery, requeue } from './deliveries.ts';

/** Which deliveries are meant; what is absent is not asked for. */
export interface DeliveryFilter {
  ids?: readonly string[] | undefined;
  boardId?: string | undefined;
  webhookId?: string | undefined;
  /** In any of these states. */
  statuses?: readonly DeliveryStatus[] | undefined;
  /** Only what was made so long ago, in milliseconds. */
  olderThanMs?: number | undefined;
}

export interface DeliveryRecord extends Delivery {
  boardId: string;
  url: string | null;
  finishedAt: Date | null;
}

type Parts = Pick<Platform, 'clock' | 'database'>;

const BATCH = 500;
const PURGE_LEASE = 'purge-deliveries';

const RECORD = sql`${DELIVERY}, board_id, finished_at,
  coalesce(url, (SELECT url FROM webhook WHERE webhook.id = webhook_id)) AS url`;

/** Deliveries, newest first, as they are read. */
export async function* listAllDeliveries(
  { clock, database }: Parts,
  filter: DeliveryFilter,
  most = Number.POSITIVE_INFINITY,
): AsyncGenerator<DeliveryRecord> {
  let before: string | undefined;
  let left = most;
  while (left > 0) {
    const { rows } = await sql<DeliveryRecord>`
      SELECT ${RECORD} FROM webhook_delivery WHERE ${matches(filter, clock.now())}
        ${before === undefined ? sql`` : sql`AND id < ${before}`}
      ORDER BY id DESC LIMIT ${Math.min(BATCH, left)}`.execute(database);
    yield* rows;
    left -= rows.length;
    before = rows.at(-1)?.id;
    if (rows.length < BATCH) return;
  }
}

/** One delivery; undefined for an unknown id. */
export async function findDelivery({ database }: Parts, id: string): Promise<DeliveryRecord | undefined> {
  const { rows } = await sql<DeliveryRecord>`SELECT ${RECORD} FROM webhook_delivery WHERE id = ${id}`.execute(
    database,
  );
  return rows[0];
}

export interface SweepPlan {
  deliveries: number;
  /** What their bodies take, in bytes. */
  bodyBytes: number;
  /** When the first and the last of them were made; null when there are none. */
  oldest: Date | null;
  newest: Date | null;
}

export type Swept = Pick<SweepPlan, 'deliveries' | 'bodyBytes'>;

export interface SweepOptions {
  /** Who runs it, for whoever finds the lock held. */
  command: string;
  signal?: AbortSignal | undefined;
  /** Told after each batch how much is done so far. */
  onProgress?: ((swept: Swept) => void) | undefined;
}

/** False when it was interrupted; a later run goes on where this one stopped. */
export type SweepResult = Swept & { complete: boolean };

/** What a re-queue or a purge of all that a filter means would take. Writes nothing. */
export async function planSweep({ clock, database }: Parts, filter: DeliveryFilter): Promise<SweepPlan> {
  const { rows } = await sql<SweepPlan>`
    SELECT count(*) AS deliveries, coalesce(sum(octet_length(body)), 0)::bigint AS body_bytes,
      min(created_at) AS oldest, max(created_at) AS newest
    FROM webhook_delivery WHERE ${hasEnded(filter, clock.now())}`.execute(database);
  const [plan] = rows;
  if (!plan) throw new Error('a count answered no row');
  return plan;
}

/**
 * Makes all that a filter means pending again, in batches under a lease; what is pending stays as it is.
 *
 * @throws {Failure} LEASE_HELD (exit 11) when another re-queue is running
 */
export function requeueAll(
  parts: Parts,
  filter: DeliveryFilter,
  options: SweepOptions,
): Promise<SweepResult> {
  const condition = hasEnded(filter, parts.clock.now());
  return sweep(parts, 'requeue-deliveries', condition, options, async (transaction, ids) =>
    (await requeue(transaction, ids)).map(({ body }) => Buffer.byteLength(body)),
  );
}

/**
 * Removes all that a filter means, in batches under a lease; never what is pending.
 *
 * @throws {Failure} LEASE_HELD (exit 11) when another purge is running
 */
export function purgeDeliveries(
  parts: Parts,
  filter: DeliveryFilter,
  options: SweepOptions,
): Promise<SweepResult> {
  return sweep(parts, PURGE_LEASE, hasEnded(filter, parts.clock.now()), options, remove);
}

/** Forgets what was delivered so long ago; throws as `purgeDeliveries` does. */
export function forgetDelivered(parts: Parts, keepMs: number, options: SweepOptions): Promise<SweepResult> {
  const before = new Date(parts.clock.now() - keepMs);
  return sweep(parts, PURGE_LEASE, sql`status = 'delivered' AND finished_at < ${before}`, options, remove);
}

async function remove(transaction: Kysely<Tables>, ids: readonly string[]): Promise<number[]> {
  const { rows } = await sql<{ size: number }>`
    DELETE FROM webhook_delivery WHERE id = ANY(${ids}) AND status <> 'pending'
    RETURNING octet_length(body) AS size`.execute(transaction);
  return rows.map(({ size }) => size);
}

/** Works on what a condition means, batch by batch in the order of ids; `work` answers the sizes of what it took. */
async function sweep(
  parts: Parts,
  name: string,
  condition: RawBuilder<unknown>,
  { command, signal, onProgress }: SweepOptions,
  work: (transaction: Kysely<Tables>, ids: string[]) => Promise<number[]>,
): Promise<SweepResult> {
  return withLease(parts, { name, command }, async (lease) => {
    const swept = { deliveries: 0, bodyBytes: 0 };
    let after = '';
    while (!signal?.aborted) {
      const { ids, sizes } = await inTransaction(parts.database, async (transaction) => {
        await lease.renew(transaction);
        const { rows } = await sql<{ id: string }>`
          SELECT id FROM webhook_delivery WHERE ${condition} AND id > ${after}
          ORDER BY id LIMIT ${BATCH}`.execute(transaction);
        const found = rows.map(({ id }) => id);
        return { ids: found, sizes: found.length === 0 ? [] : await work(transaction, found) };
      });
      swept.deliveries += sizes.length;
      swept.bodyBytes += sizes.reduce((sum, size) => sum + size, 0);
      if (ids.length > 0) onProgress?.(swept);
      if (ids.length < BATCH) return { ...swept, complete: true };
      after = ids.at(-1) ?? after;
    }
    return { ...swept, complete: false };
  });
}

/** Those that a filter means, but for what is pending. */
function hasEnded(filter: DeliveryFilter, nowMs: number): RawBuilder<unknown> {
  return sql`${matches(filter, nowMs)} AND status <> 'pending'`;
}

function matches(
  { ids, boardId, webhookId, statuses, olderThanMs }: DeliveryFilter,
  nowMs: number,
): RawBuilder<unknown> {
  const conditions = [
    ids !== undefined && sql`id = ANY(${ids})`,
    boardId !== undefined && sql`board_id = ${boardId}`,
    webhookId !== undefined && sql`webhook_id = ${webhookId}`,
    statuses !== undefined && sql`status = ANY(${statuses})`,
    olderThanMs !== undefined && sql`created_at < ${new Date(nowMs - olderThanMs)}`,
  ].filter((condition) => condition !== false);
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` AND `);
}
