// What anybody may know of a link.
import { LinkError } from './errors.ts';
import type { LinkService } from './link-service.ts';

export interface Link {
  linkKey: number;
  shortCode: string;
  /** Null when it is withheld: the link has a password, or has expired. */
  originalUrl: string | null;
  hasPassword: boolean;
  isExpired: boolean;
  createdAt: Date;
  expiresAt: Date | null;
  clickCount: number;
}

/**
 * Finds a link with its number of clicks, the latest of this process among them.
 *
 * @throws {LinkError} LINK_NOT_FOUND
 */
export async function findLink({ platform, clicks }: LinkService, shortCode: string): Promise<Link> {
  await clicks.catchUp();
  const row = await platform.database
    .selectFrom('link')
    .leftJoin('clickSummary', 'clickSummary.linkKey', 'link.linkKey')
    .select(['link.linkKey', 'shortCode', 'originalUrl', 'createdAt', 'expiresAt', 'clickSummary.clicks'])
    .select((expression) => expression('passwordHash', 'is not', null).as('hasPassword'))
    .where('shortCode', '=', shortCode)
    .executeTakeFirst();
  if (!row) throw new LinkError('LINK_NOT_FOUND');
  const { clicks: clickCount, originalUrl, ...rest } = row;
  const hasPassword = row.hasPassword === true;
  const isExpired = row.expiresAt !== null && row.expiresAt.getTime() <= platform.clock.now();
  return {
    ...rest,
    hasPassword,
    isExpired,
    originalUrl: hasPassword || isExpired ? null : originalUrl,
    clickCount: clickCount ?? 0,
  };
}
