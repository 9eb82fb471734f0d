// Writing, changing and removing a row of a thing on a board, with its activity. What is particular to a kind stands
// in the file of that kind; this is what they have in common.
import { isDeepStrictEqual } from 'node:util';
import type { Kysely } from 'kysely';
import { createId } from '../../../platform/ids.ts';
import type { Row } from '../access.ts';
import { KanbanError } from '../errors.ts';
import { type ObjectKind, RESOURCES } from '../resources.ts';
import type { BoardChange } from './change.ts';

type Values = Record<string, unknown>;

// Kysely knows each table by its type; here the table is a value.
type AnyTables = Kysely<Record<string, Row>>;

const JSON_COLUMNS = new Set(['trigger', 'actions']);

/**
 * Writes a new row.
 *
 * @param columns - what is answered of it, its id and card among them; everything when left out
 */
export async function insertObject<T extends Row>(
  change: BoardChange,
  kind: ObjectKind,
  values: Values,
  columns?: readonly string[],
): Promise<T> {
  const { table, verb, idName } = RESOURCES[kind];
  const insertion = anyTables(change)
    .insertInto(table)
    .values({
      id: createId(change.now.getTime()),
      boardId: change.boardId,
      createdAt: change.now,
      ...(hasUpdatedAt(kind) && { updatedAt: change.now }),
      ...encoded(values),
    } as never);
  const answering = columns ? insertion.returning(columns) : insertion.returningAll();
  const row = (await answering.executeTakeFirstOrThrow()) as unknown as T;
  change.record({
    verb: `${verb}_CREATED`,
    cardId: kind === 'card' ? row.id : row.cardId,
    metadata: { [idName]: row.id },
  });
  return row;
}

/**
 * Sees that a board has fewer of a kind than it may: each change of the board has to look at all of them.
 *
 * @param name - of the kind, in the plural
 * @throws {KanbanError} CONFLICT
 */
export async function requireFewer(
  change: BoardChange,
  kind: ObjectKind,
  { most, name }: { most: number; name: string },
): Promise<void> {
  const { count } = await anyTables(change)
    .selectFrom(RESOURCES[kind].table)
    .select(({ fn }) => fn.countAll<number>().as('count'))
    .where('boardId', '=', change.boardId)
    .executeTakeFirstOrThrow();
  if (count >= most) throw new KanbanError('CONFLICT', `A board has at most ${most} ${name}.`);
}

/**
 * Writes those of the values that differ from the row.
 *
 * @returns the row as it is now, and the names of what changed
 */
export async function updateObject<T extends Row>(
  change: BoardChange,
  kind: ObjectKind,
  row: Row,
  values: Values,
): Promise<{ row: T; changed: string[] }> {
  const changed = Object.keys(values).filter(
    (name) => values[name] !== undefined && !isEqual(values[name], row[name]),
  );
  if (changed.length === 0) return { row: row as T, changed };
  const differing = Object.fromEntries(changed.map((name) => [name, values[name]]));
  const updated: T = (await anyTables(change)
    .updateTable(RESOURCES[kind].table)
    .set({ ...encoded(differing), updatedAt: change.now } as never)
    .where('id', '=', row.id)
    .returningAll()
    .executeTakeFirstOrThrow()) as unknown as T;
  return { row: updated, changed };
}

/** Writes those of the values that differ, with one activity row for them if there are any. */
export async function changeObject<T extends Row>(
  change: BoardChange,
  kind: ObjectKind,
  row: Row,
  values: Values,
): Promise<T> {
  const { verb, idName } = RESOURCES[kind];
  const { row: updated, changed } = await updateObject<T>(change, kind, row, values);
  if (changed.length > 0) {
    change.record({
      verb: `${verb}_UPDATED`,
      cardId: kind === 'card' ? row.id : row.cardId,
      metadata: { [idName]: row.id, fields: changed },
    });
  }
  return updated;
}

/** Removes a row with all that hangs on it. */
export async function deleteObject(change: BoardChange, kind: ObjectKind, row: Row): Promise<void> {
  const { table, verb, idName } = RESOURCES[kind];
  await anyTables(change).deleteFrom(table).where('id', '=', row.id).execute();
  change.record({
    verb: `${verb}_DELETED`,
    cardId: kind === 'card' ? row.id : row.cardId,
    metadata: { [idName]: row.id },
  });
}

function anyTables({ transaction }: BoardChange): AnyTables {
  return transaction as unknown as AnyTables;
}

function hasUpdatedAt(kind: ObjectKind): boolean {
  return kind !== 'cardTemplate' && kind !== 'attachment';
}

/** The driver would write a list as an array of PostgreSQL's. */
function encoded(values: Values): Values {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      JSON_COLUMNS.has(name) ? JSON.stringify(value) : value,
    ]),
  );
}

/** Compares as JSON, in which a moment is its text; PostgreSQL keeps the members of an object in an order of its own. */
function isEqual(one: unknown, other: unknown): boolean {
  return one === other || isDeepStrictEqual(asJson(one), asJson(other));
}

function asJson(value: unknown): unknown {
  return value === undefined ? undefined : JSON.parse(JSON.stringify(value));
}
