// `svc purge links`: what is special about links.
import { type LinkPurgePlan, planLinkPurge, purgeLinks } from '../../services/links/purge-links.ts';
import type { PurgeKind } from './run-purge.ts';

export const LINKS: PurgeKind<LinkPurgePlan, { links: number; clicks: number }> = {
  commandName: 'svc purge links',
  plan: planLinkPurge,
  isEmpty: ({ links }) => links === 0,
  describe: ({ links, clicks, oldest, newest }) =>
    links === 0 || !oldest || !newest
      ? 'nothing: no link expired so long ago'
      : `${links} links with ${clicks} clicks, expired between ${oldest.toISOString()} and ${newest.toISOString()}`,
  purge: purgeLinks,
  summarize: ({ links, clicks }) => `${links} links, ${clicks} rows of clicks`,
};
