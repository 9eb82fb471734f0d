// Lists in pages: a cursor names the last row that was given, so that what is added or removed meanwhile neither
// doubles nor hides another. Where rows may be large, a page ends by the size of its text too.
import { type Kysely, type RawBuilder, sql } from 'kysely';
import type { Tables } from '../../platform/database/tables.ts';
import { invalidField, KanbanError } from './errors.ts';

export interface PageRequest {
  limit: number;
  cursor?: string | undefined;
}

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
}

/** How much text a page holds, but for a first row that alone is larger. */
export const PAGE_BYTES = 8 * 1024 * 1024;

export interface LargeRows {
  /** What is read of a row. */
  columns: RawBuilder<unknown>;
  table: string;
  where: RawBuilder<unknown>;
  /** Properties in whose order the rows are: all of them are read, and together they are unique. */
  order: readonly string[];
  /** Size of the text of a row. */
  bytes: RawBuilder<unknown>;
}

const MOMENT = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/**
 * Reads a page of rows that may be large: it ends where its text gets larger than `PAGE_BYTES`. The sizes are summed
 * before any text is read: PostgreSQL knows the size of a long text without fetching it.
 *
 * @throws {KanbanError} BAD_REQUEST for a cursor that is none of this list
 */
export async function readLargeRows<T>(
  database: Kysely<Tables>,
  { columns, table, where, order, bytes }: LargeRows,
  request: PageRequest,
): Promise<Page<T>> {
  const after = cursorKey(request, order.length);
  const key = sql.join(order.map((name) => sql.ref(`${table}.${name}`)));
  const { rows } = await sql<Record<string, unknown>>`
    WITH candidate AS (
      SELECT id, row_number() OVER (ORDER BY ${key}) AS place, ${bytes} AS bytes FROM ${sql.table(table)}
      WHERE ${where} ${after ? sql`AND (${key}) > (${sql.join(after)})` : sql``}
      ORDER BY ${key} LIMIT ${request.limit + 1}
    ), measured AS (
      SELECT id, place, sum(bytes) OVER (ORDER BY place) AS bytes_so_far,
        count(*) OVER () AS page_candidates
      FROM candidate
    )
    SELECT ${columns}, page_candidates FROM ${sql.table(table)} JOIN measured USING (id)
    WHERE (bytes_so_far <= ${PAGE_BYTES} OR place = 1) AND place <= ${request.limit}
    ORDER BY place`.execute(database);
  const candidates = Number(rows[0]?.pageCandidates ?? 0);
  const items = rows.map(({ pageCandidates: _, ...row }) => row);
  const last = items.at(-1);
  const nextKey = candidates > items.length && last && order.map((name) => String(last[name]));
  return { items: items as T[], nextCursor: nextKey ? encodeCursor(nextKey) : null };
}

/**
 * Every item of a list, read page by page; it ends early when what it is a list of is there no more for who asks.
 */
export async function* everyItem<T>(
  list: (request: PageRequest) => Promise<Page<T>>,
  limit: number,
): AsyncGenerator<T> {
  let cursor: string | undefined;
  do {
    const page = await list({ limit, cursor }).catch(nothingIfGone);
    yield* page.items;
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
}

function nothingIfGone(error: unknown): Page<never> {
  if (error instanceof KanbanError && error.code === 'NOT_FOUND') return { items: [], nextCursor: null };
  throw error;
}

/** Makes the page of rows that were asked for with one more than fits. */
export function pageOf<T>(rows: T[], { limit }: PageRequest, keyOf: (row: T) => readonly string[]): Page<T> {
  const items = rows.slice(0, limit);
  const last = items.at(-1);
  const hasMore = rows.length > limit && last !== undefined;
  return { items, nextCursor: hasMore ? encodeCursor(keyOf(last)) : null };
}

/**
 * The parts of the key that a cursor names; undefined without one.
 *
 * @throws {KanbanError} BAD_REQUEST for what is no cursor of this list
 */
export function cursorKey({ cursor }: PageRequest, parts: number): string[] | undefined {
  if (cursor === undefined) return undefined;
  const key = decodeCursor(cursor);
  if (key?.length !== parts) throw invalidCursor();
  return key;
}

/**
 * The moment that a part of a cursor names.
 *
 * @throws {KanbanError} BAD_REQUEST for a part that names none
 */
export function momentIn(part: string | undefined): Date {
  const moment = new Date(part !== undefined && MOMENT.test(part) ? part : Number.NaN);
  if (Number.isNaN(moment.getTime())) throw invalidCursor();
  return moment;
}

/**
 * The number that a part of a cursor names.
 *
 * @throws {KanbanError} BAD_REQUEST for a part that names none
 */
export function numberIn(part: string | undefined): number {
  if (part === undefined || !/^\d{1,15}$/.test(part)) throw invalidCursor();
  return Number(part);
}

function invalidCursor(): KanbanError {
  return invalidField('cursor', 'is none that a list of this kind answered');
}

function encodeCursor(key: readonly string[]): string {
  return Buffer.from(JSON.stringify(key)).toString('base64url');
}

function decodeCursor(cursor: string): string[] | undefined {
  try {
    const key: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    const isKey = Array.isArray(key) && key.every((part) => typeof part === 'string' && !part.includes('\0'));
    return isKey ? key : undefined;
  } catch {
    return undefined;
  }
}
