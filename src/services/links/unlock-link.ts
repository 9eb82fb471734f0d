// Learning where a protected link leads, with its password.
import { verifyAgainstNothing, verifyPassword } from '../../platform/passwords.ts';
import type { Click } from './clicks/click.ts';
import { LinkError } from './errors.ts';
import type { LinkService } from './link-service.ts';

/** What is known of whoever unlocks a link. */
export type Visitor = Omit<Click, 'linkKey' | 'clickedAt'>;

/**
 * Gives the destination of a protected link for its password. The click is written down before this resolves.
 *
 * @throws {LinkError} NOT_UNLOCKED: a wrong password, an unknown or expired link, and one without a password are one
 * answer, and take the same time
 */
export async function unlockLink(
  { platform, clicks }: LinkService,
  { shortCode, password, visitor }: { shortCode: string; password: string; visitor: Visitor },
): Promise<string> {
  const { database, clock } = platform;
  const row = await database
    .selectFrom('link')
    .select(['linkKey', 'originalUrl', 'passwordHash', 'expiresAt'])
    .where('shortCode', '=', shortCode)
    .executeTakeFirst();
  const isLive = row !== undefined && (row.expiresAt === null || row.expiresAt.getTime() > clock.now());
  const passwordHash = isLive ? row.passwordHash : null;
  const matches = await (passwordHash === null
    ? verifyAgainstNothing(password)
    : verifyPassword(passwordHash, password));
  if (!matches || !row) throw new LinkError('NOT_UNLOCKED');
  const isThere = await clicks.record({ ...visitor, linkKey: row.linkKey, clickedAt: clock.now() });
  if (!isThere) throw new LinkError('NOT_UNLOCKED');
  return row.originalUrl;
}
