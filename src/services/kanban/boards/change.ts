// A change of a board while it is being made: what the functions that make it work with.
import type { Kysely } from 'kysely';
import type { Tables } from '../../../platform/database/tables.ts';
import type { BoardAccess } from '../access.ts';

export interface ActivityEntry {
  verb: string;
  cardId?: string | null | undefined;
  metadata?: Record<string, unknown>;
}

/** An entry and who did it; null for the server itself. */
export interface Deed extends ActivityEntry {
  actorId: string | null;
}

export interface Notice {
  accountId: string;
  kind: 'assignment' | 'mention';
  cardId: string;
  commentId?: string;
}

export interface BoardChange extends BoardAccess {
  transaction: Kysely<Tables>;
  /** Who makes it; null for the server itself. */
  accountId: string | null;
  now: Date;
  /** Writes an activity row when the change is done. */
  record(entry: ActivityEntry): void;
  /** Tells a member of something; nobody is told of what they did themselves. */
  notify(notice: Notice): void;
}
