// Reading a protected paste with its password.
import { verifyPassword } from '../../platform/passwords.ts';
import type { RateLimit } from '../../platform/rate-limiter.ts';
import { PasteError } from './errors.ts';
import type { PasteService } from './paste-service.ts';
import { burnPaste, findPaste, readPaste } from './read-paste.ts';
import { READ_COLUMNS, type ReadPaste } from './stored-paste.ts';

/** Wrong passwords per address and paste; API, raw form and page share the one window (contract, section 3). */
export const UNLOCK_LIMIT: RateLimit = { name: 'paste-unlock', limit: 10, windowMs: 5 * 60_000 };

/**
 * Reads a paste with its password: counted, and burned if it burns. Without a password on the paste, the same as a
 * read. A wrong password has no effect.
 *
 * @throws {PasteError} PASTE_NOT_FOUND, WRONG_PASSWORD
 */
export async function unlockPaste(
  service: PasteService,
  pasteId: string,
  password: string,
): Promise<ReadPaste> {
  const { database, clock } = service.platform;
  const found = await checkPassword(service, pasteId, password);
  if (!found.isProtected) return readPaste(service, pasteId);
  const paste = found.burnAfterRead
    ? await burnPaste(database, found.pasteKey)
    : await database
        .updateTable('paste')
        .set((expression) => ({ viewCount: expression('viewCount', '+', 1) }))
        .where('pasteKey', '=', found.pasteKey)
        .where('expiresAt', '>', new Date(clock.now()))
        .returning(READ_COLUMNS)
        .executeTakeFirst();
  if (!paste) throw new PasteError('PASTE_NOT_FOUND');
  return paste;
}

/**
 * What `unlockPaste` would answer now, for HEAD: nothing is counted or burned.
 *
 * @throws {PasteError} PASTE_NOT_FOUND, WRONG_PASSWORD
 */
export async function peekLockedPaste(
  service: PasteService,
  pasteId: string,
  password: string,
): Promise<ReadPaste> {
  const { pasteKey } = await checkPassword(service, pasteId, password);
  const paste = await findPaste(service.platform.database, pasteKey);
  if (!paste) throw new PasteError('PASTE_NOT_FOUND');
  return { ...paste, viewCount: paste.viewCount + 1 };
}

async function checkPassword({ platform }: PasteService, pasteId: string, password: string) {
  const row = await platform.database
    .selectFrom('paste')
    .select(['pasteKey', 'passwordHash', 'burnAfterRead'])
    .where('pasteId', '=', pasteId)
    .where('expiresAt', '>', new Date(platform.clock.now()))
    .executeTakeFirst();
  if (!row) throw new PasteError('PASTE_NOT_FOUND');
  const { passwordHash, ...rest } = row;
  if (passwordHash !== null && !(await verifyPassword(passwordHash, password))) {
    throw new PasteError('WRONG_PASSWORD');
  }
  return { ...rest, isProtected: passwordHash !== null };
}
