// Reading a paste: counted, or looked at without any effect.
import type { Database } from '../../platform/database/connect.ts';
import { PasteError } from './errors.ts';
import type { PasteService } from './paste-service.ts';
import { READ_COLUMNS, type ReadPaste } from './stored-paste.ts';

/** What anybody may know of a paste without reading it. */
export interface PastePreview {
  pasteId: string;
  title: string | null;
  language: string;
  createdAt: Date;
  expiresAt: Date;
  viewCount: number;
  burnAfterRead: boolean;
  sizeBytes: number;
  hasPassword: boolean;
}

/**
 * Reads a paste without a password. The read is counted, durably, before this resolves; a burn-after-read paste is
 * removed in the same statement, so that of many readers exactly one gets it.
 *
 * @throws {PasteError} PASTE_NOT_FOUND, PASSWORD_REQUIRED
 */
export async function readPaste(service: PasteService, pasteId: string): Promise<ReadPaste> {
  const cached = service.cache.get(pasteId);
  const read = await service.reads.add({ pasteId, cachedKey: cached?.pasteKey });
  if (!read.counted) {
    service.cache.delete(pasteId);
    return readOnce(service, pasteId);
  }
  if (cached?.pasteKey === read.pasteKey) return { ...cached, viewCount: read.viewCount };
  const paste = read.paste ?? (await findPaste(service.platform.database, read.pasteKey));
  if (!paste) throw new PasteError('PASTE_NOT_FOUND');
  service.cache.set(pasteId, paste);
  return { ...paste, viewCount: read.viewCount };
}

/**
 * Looks at a paste without reading it: nothing is counted or burned.
 *
 * @throws {PasteError} PASTE_NOT_FOUND
 */
export async function previewPaste({ platform }: PasteService, pasteId: string): Promise<PastePreview> {
  const row = await platform.database
    .selectFrom('paste')
    .select([
      'pasteId',
      'title',
      'language',
      'createdAt',
      'expiresAt',
      'viewCount',
      'burnAfterRead',
      'sizeBytes',
    ])
    .select((expression) => expression('passwordHash', 'is not', null).as('hasPassword'))
    .where('pasteId', '=', pasteId)
    .where('expiresAt', '>', new Date(platform.clock.now()))
    .executeTakeFirst();
  if (!row) throw new PasteError('PASTE_NOT_FOUND');
  return { ...row, hasPassword: row.hasPassword === true };
}

/**
 * What a read would answer now, for HEAD: nothing is counted or burned.
 *
 * @throws {PasteError} PASTE_NOT_FOUND, PASSWORD_REQUIRED
 */
export async function peekPaste({ platform }: PasteService, pasteId: string): Promise<ReadPaste> {
  const row = await platform.database
    .selectFrom('paste')
    .select([...READ_COLUMNS, 'passwordHash'])
    .where('pasteId', '=', pasteId)
    .where('expiresAt', '>', new Date(platform.clock.now()))
    .executeTakeFirst();
  if (!row) throw new PasteError('PASTE_NOT_FOUND');
  const { passwordHash, ...paste } = row;
  if (passwordHash !== null) throw new PasteError('PASSWORD_REQUIRED');
  return { ...paste, viewCount: paste.viewCount + 1 };
}

/** Removes a burn-after-read paste and gives it to the caller, unless another was first. */
export async function burnPaste(database: Database, pasteKey: number): Promise<ReadPaste | undefined> {
  const row = await database
    .deleteFrom('paste')
    .where('pasteKey', '=', pasteKey)
    .returning(READ_COLUMNS)
    .executeTakeFirst();
  return row && { ...row, viewCount: row.viewCount + 1 };
}

async function readOnce(service: PasteService, pasteId: string): Promise<ReadPaste> {
  const { database, clock } = service.platform;
  const row = await database
    .selectFrom('paste')
    .select(['pasteKey', 'passwordHash', 'burnAfterRead'])
    .where('pasteId', '=', pasteId)
    .where('expiresAt', '>', new Date(clock.now()))
    .executeTakeFirst();
  if (!row) throw new PasteError('PASTE_NOT_FOUND');
  if (row.passwordHash !== null) throw new PasteError('PASSWORD_REQUIRED');
  // Neither protected nor burning: made under this id between the two statements, so count it like any other.
  if (!row.burnAfterRead) return readPaste(service, pasteId);
  const paste = await burnPaste(database, row.pasteKey);
  if (!paste) throw new PasteError('PASTE_NOT_FOUND');
  return paste;
}

/** The paste of a key as it stands; nothing is counted. */
export async function findPaste(database: Database, pasteKey: number): Promise<ReadPaste | undefined> {
  return database
    .selectFrom('paste')
    .select(READ_COLUMNS)
    .where('pasteKey', '=', pasteKey)
    .executeTakeFirst();
}
