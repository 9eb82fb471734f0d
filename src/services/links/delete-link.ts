// Deleting a link with the token given out at its creation.
import { tokenMatches } from '../../platform/tokens.ts';
import { announceGone } from './announce-gone.ts';
import { removeLinks } from './clicks/remove-clicks.ts';
import { LinkError } from './errors.ts';
import type { LinkService } from './link-service.ts';

/**
 * Deletes a link: gone everywhere when this resolves, with its counts; its raw clicks with it or, when there are
 * many, shortly after.
 *
 * @throws {LinkError} LINK_NOT_FOUND, when the link or the token is not right: one answer for both
 */
export async function deleteLink(
  { platform, destinations, clickRemover }: LinkService,
  shortCode: string,
  deleteToken: string,
): Promise<void> {
  const { database, clock } = platform;
  const row = await database
    .selectFrom('link')
    .select(['linkKey', 'deleteTokenHash'])
    .where('shortCode', '=', shortCode)
    .executeTakeFirst();
  const hash = row?.deleteTokenHash ?? undefined;
  if (!tokenMatches(deleteToken, hash) || !row) throw new LinkError('LINK_NOT_FOUND');
  const removed = await database
    .transaction()
    .execute((transaction) => removeLinks(transaction, [row.linkKey], new Date(clock.now())));
  if (removed.length === 0) throw new LinkError('LINK_NOT_FOUND');
  // Whatever becomes of the announcement, this process does not redirect to it any more.
  destinations.forget([shortCode]);
  await announceGone(platform, [shortCode]);
  await clickRemover.removeSome();
}
