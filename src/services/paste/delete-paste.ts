// Deleting a paste with the token given out at its creation.
import { tokenMatches } from '../../platform/tokens.ts';
import { announceGone } from './announce-gone.ts';
import { PasteError } from './errors.ts';
import type { PasteService } from './paste-service.ts';

/**
 * Deletes a paste.
 *
 * @throws {PasteError} PASTE_NOT_FOUND, when the paste or the token is not right: one answer for both
 */
export async function deletePaste(
  service: PasteService,
  pasteId: string,
  deleteToken: string,
): Promise<void> {
  const { database, clock } = service.platform;
  const row = await database
    .selectFrom('paste')
    .select(['pasteKey', 'deleteTokenHash'])
    .where('pasteId', '=', pasteId)
    .where('expiresAt', '>', new Date(clock.now()))
    .executeTakeFirst();
  if (!tokenMatches(deleteToken, row?.deleteTokenHash) || !row) throw new PasteError('PASTE_NOT_FOUND');
  const deleted = await database.deleteFrom('paste').where('pasteKey', '=', row.pasteKey).executeTakeFirst();
  if (deleted.numDeletedRows === 0n) throw new PasteError('PASTE_NOT_FOUND');
  await announceGone(service.platform, [{ pasteId, pasteKey: row.pasteKey }]);
}
