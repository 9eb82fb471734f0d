// Lists in pages: a cursor names the last row that was given, so that what is added or removed meanwhile neither
// doubles nor hides another.
import { invalidField } from './errors.ts';

export interface PageRequest {
  limit: number;
  cursor?: string | undefined;
}

export interface Page<T> {
  items: T[];
  nextCursor: string | null;
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
  if (key?.length !== parts) throw invalidField('cursor', 'is none that a list of this kind answered');
  return key;
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
