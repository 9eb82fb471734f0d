// Deliveries as operators look after them: all of them, whosever they are.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { DeliveryStatus } from '../../../platform/database/kanban-tables.ts';
import type { Tables } from '../../../platform/database/tables.ts';
import type { Platform } from '../../../platform/platform.ts';
import { DELIVERY, type Delivery, requeue } from './deliveries.ts';

/** Which deliveries are meant; what is absent is not asked for. */
export interface DeliveryFilter {
  boardId?: string | undefined;
  webhookId?: string | undefined;
  status?: DeliveryStatus | undefined;
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

/** How many a filter means. */
export async function countDeliveries({ clock, database }: Parts, filter: DeliveryFilter): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    SELECT count(*) AS count FROM webhook_delivery WHERE ${matches(filter, clock.now())}`.execute(database);
  return Number(rows[0]?.count ?? 0);
}

export interface SweepOptions {
  signal?: AbortSignal | undefined;
  onProgress?: ((done: number) => void) | undefined;
}

/** Makes all that a filter means pending again, in batches; what is pending stays as it is. Returns how many. */
export function requeueAll(
  parts: Parts,
  filter: DeliveryFilter,
  options: SweepOptions = {},
): Promise<number> {
  return sweep(
    parts,
    sql`${matches(filter, parts.clock.now())} AND status <> 'pending'`,
    options,
    async (ids) => {
      return (await requeue(parts.database, ids)).length;
    },
  );
}

/** Removes all that a filter means, in batches; never what is pending. Returns how many. */
export function purgeDeliveries(
  parts: Parts,
  filter: DeliveryFilter,
  options: SweepOptions = {},
): Promise<number> {
  return sweep(parts, sql`${matches(filter, parts.clock.now())} AND status <> 'pending'`, options, (ids) =>
    remove(parts.database, ids),
  );
}

/** Forgets what was delivered so long ago. Returns how many. */
export function forgetDelivered(parts: Parts, keepMs: number, options: SweepOptions = {}): Promise<number> {
  const before = new Date(parts.clock.now() - keepMs);
  return sweep(parts, sql`status = 'delivered' AND finished_at < ${before}`, options, (ids) =>
    remove(parts.database, ids),
  );
}

async function remove(database: Kysely<Tables>, ids: readonly string[]): Promise<number> {
  const { numDeletedRows } = await database
    .deleteFrom('webhookDelivery')
    .where('id', 'in', ids)
    .where('status', '<>', 'pending')
    .executeTakeFirst();
  return Number(numDeletedRows);
}

async function sweep(
  { database }: Parts,
  condition: RawBuilder<unknown>,
  { signal, onProgress }: SweepOptions,
  work: (ids: string[]) => Promise<number>,
): Promise<number> {
  let after = '';
  let done = 0;
  while (!signal?.aborted) {
    const { rows } = await sql<{ id: string }>`
      SELECT id FROM webhook_delivery WHERE ${condition} AND id > ${after} ORDER BY id LIMIT ${BATCH}`.execute(
      database,
    );
    if (rows.length === 0) break;
    done += await work(rows.map(({ id }) => id));
    after = rows.at(-1)?.id ?? after;
    onProgress?.(done);
  }
  return done;
}

function matches(
  { boardId, webhookId, status, olderThanMs }: DeliveryFilter,
  nowMs: number,
): RawBuilder<unknown> {
  const conditions = [
    boardId !== undefined && sql`board_id = ${boardId}`,
    webhookId !== undefined && sql`webhook_id = ${webhookId}`,
    status !== undefined && sql`status = ${status}`,
    olderThanMs !== undefined && sql`created_at < ${new Date(nowMs - olderThanMs)}`,
  ].filter((condition) => condition !== false);
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` AND `);
}
