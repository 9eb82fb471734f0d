// Links as replies of the API write them.
import type { z } from 'zod';
import type { Config } from '../../platform/config/config.ts';
import type { CreatedLink } from '../../services/links/create-link.ts';
import type { Link } from '../../services/links/find-link.ts';
import type { LinkStatistics } from '../../services/links/link-statistics.ts';
import { toTimestamp } from '../http/fields.ts';
import type { createdLink, linkReply, linkStatisticsReply } from './schemas.ts';

/** What people open: the site's address and the code. */
export function shortUrlOf({ links }: Config, shortCode: string): string {
  return `${links.url}/${shortCode}`;
}

/** Reply of a creation. */
export function representCreated(config: Config, created: CreatedLink): z.output<typeof createdLink> {
  const { shortCode, deleteToken, expiresAt, hasPassword } = created;
  return {
    shortCode,
    shortUrl: shortUrlOf(config, shortCode),
    deleteToken,
    expiresAt: expiresAt && toTimestamp(expiresAt),
    hasPassword,
  };
}

/** Reply of a read. */
export function representLink(config: Config, link: Link): z.output<typeof linkReply> {
  const { shortCode, originalUrl, hasPassword, expiresAt, clickCount, createdAt } = link;
  return {
    shortCode,
    shortUrl: shortUrlOf(config, shortCode),
    ...(originalUrl !== null && { originalUrl }),
    hasPassword,
    expiresAt: expiresAt && toTimestamp(expiresAt),
    clickCount,
    createdAt: toTimestamp(createdAt),
  };
}

/** Reply with the statistics of a link. */
export function representStatistics(statistics: LinkStatistics): z.output<typeof linkStatisticsReply> {
  const { createdAt, expiresAt, ...rest } = statistics;
  return { ...rest, createdAt: toTimestamp(createdAt), expiresAt: expiresAt && toTimestamp(expiresAt) };
}
