// A paste as the services hand it out: plain data.
import type { Selectable } from 'kysely';
import type { PasteTable } from '../../platform/database/tables.ts';

/** What never changes in a paste. */
export interface StoredPaste {
  /** Identity in the database; an id can be used again, a key cannot. */
  pasteKey: number;
  pasteId: string;
  title: string | null;
  content: string;
  language: string;
  createdAt: Date;
  expiresAt: Date;
  burnAfterRead: boolean;
  sizeBytes: number;
}

export interface ReadPaste extends StoredPaste {
  /** Includes the read that this is the answer to. */
  viewCount: number;
}

/** The columns of a read, without the secrets. */
export const READ_COLUMNS = [
  'pasteKey',
  'pasteId',
  'title',
  'content',
  'language',
  'createdAt',
  'expiresAt',
  'burnAfterRead',
  'sizeBytes',
  'viewCount',
] as const satisfies ReadonlyArray<keyof Selectable<PasteTable>>;
