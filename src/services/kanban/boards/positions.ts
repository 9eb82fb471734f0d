// Where things stand among their siblings: fractional indices, so that a move rewrites one row. Whoever asks holds the
// board, so siblings do not move meanwhile.
import { generateKeyBetween } from 'fractional-indexing';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../../platform/database/tables.ts';
import { invalidField } from '../errors.ts';

export interface Place {
  table: 'board_column' | 'card' | 'custom_field' | 'checklist' | 'checklist_item';
  /** The siblings: column and value that they share. */
  among: { column: 'board_id' | 'column_id' | 'card_id' | 'checklist_id'; id: string };
  /** What is moved: it is no neighbour of itself. */
  moved?: { id: string; position: string; isSibling: boolean };
  beforeId?: string | null | undefined;
  afterId?: string | null | undefined;
  /** How the request names the two. */
  names: { before: string; after: string };
}

/**
 * A position directly before `beforeId`, directly after `afterId` (which wins where both are given), or last. What
 * stands there already keeps its position.
 *
 * @throws {KanbanError} BAD_REQUEST for a neighbour that is not among the siblings, or two in the wrong order
 */
export async function positionFor(transaction: Kysely<Tables>, place: Place): Promise<string> {
  const [before, after] = await findNeighbours(transaction, place);
  if (before !== undefined && after !== undefined && after >= before) {
    throw invalidField(place.names.after, `stands behind ${place.names.before}`);
  }
  const [low, high] =
    after !== undefined
      ? [after, await nearest(transaction, place, 'above', after)]
      : [await nearest(transaction, place, 'below', before), before];
  return positionBetween(low, high, place.moved?.isSibling ? place.moved.position : undefined);
}

/** A position between two others, or open ends; the current one, if it lies there. */
export function positionBetween(
  low: string | null | undefined,
  high: string | null | undefined,
  current: string | undefined,
): string {
  const staysPut =
    current !== undefined && (low == null || current > low) && (high == null || current < high);
  return staysPut ? current : generateKeyBetween(low ?? null, high ?? null);
}

async function findNeighbours(
  transaction: Kysely<Tables>,
  { table, among, moved, beforeId, afterId, names }: Place,
): Promise<[string | undefined, string | undefined]> {
  const wanted = [beforeId, afterId].filter((id) => id != null);
  if (wanted.length === 0) return [undefined, undefined];
  const { rows } = await sql<{ id: string; position: string }>`
    SELECT id, position FROM ${sql.table(table)}
    WHERE id = ANY(${wanted}) AND ${sql.ref(among.column)} = ${among.id}`.execute(transaction);
  const positionOf = (id: string | null | undefined, name: string) => {
    if (id == null) return undefined;
    const found = rows.find((row) => row.id === id);
    if (!found || id === moved?.id) throw invalidField(name, 'is not one of its neighbours to be');
    return found.position;
  };
  return [positionOf(beforeId, names.before), positionOf(afterId, names.after)];
}

/** The nearest sibling below or above a position; without one, the last (below) of all. */
async function nearest(
  transaction: Kysely<Tables>,
  { table, among, moved }: Place,
  side: 'below' | 'above',
  position: string | undefined,
): Promise<string | undefined> {
  const bound =
    position === undefined
      ? sql``
      : side === 'below'
        ? sql`AND position < ${position}`
        : sql`AND position > ${position}`;
  const { rows } = await sql<{ position: string }>`
    SELECT position FROM ${sql.table(table)}
    WHERE ${sql.ref(among.column)} = ${among.id} AND id <> ${moved?.id ?? ''} ${bound}
    ORDER BY position ${side === 'below' ? sql`DESC` : sql`ASC`} LIMIT 1`.execute(transaction);
  return rows[0]?.position;
}
