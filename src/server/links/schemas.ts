// Requests and replies of the link API (link-api.md), each defined once.
import { z } from 'zod';
import type { Platform } from '../../platform/platform.ts';
import { SHORT_CODE_PATTERN } from '../../services/links/create-link.ts';
import { MAX_URL_LENGTH, refuseDestination } from '../../services/links/destination.ts';
import { text, timestamp } from '../http/fields.ts';

const requiredText = (issue: { input?: unknown }) =>
  issue.input === undefined ? 'is required' : 'must be a text';
const jsonObject = { error: 'must be a JSON object' };

export const shortCodeParam = z.object({
  code: z
    .string()
    .regex(SHORT_CODE_PATTERN)
    .meta({ description: 'Short code of the link.', examples: ['k3XqP9w'] }),
});

const customCode = z
  .string({ error: 'must be a text' })
  .regex(SHORT_CODE_PATTERN, 'must be 3 to 20 characters of a-z, A-Z, 0-9, _ and -');

const moment = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2027-01-31T12:00:00Z, with Z or an offset' })
  .transform((value) => new Date(value));

/** Body of a creation; what it refuses depends on the address of the service and on the time. */
export function createLinkBody({ config, clock }: Pick<Platform, 'config' | 'clock'>) {
  const url = z.string({ error: requiredText }).superRefine((value, context) => {
    const message = refuseDestination(value, new URL(config.links.url).hostname);
    if (message !== undefined) context.addIssue({ code: 'custom', message });
  });
  return z.object(
    {
      url: url.meta({
        description: `Where the link leads: http or https, at most ${MAX_URL_LENGTH} characters (8,000 when percent-encoded), a public address. Answered as it is sent.`,
        examples: ['https://example.com/a/long/path'],
      }),
      customCode: customCode
        .nullish()
        .meta({ description: 'Generated when it is left out. Codes are case-sensitive.' }),
      password: text({ least: 4, most: 100 }).nullish().meta({ description: '4 to 100 characters.' }),
      expiresAt: moment
        .refine((value) => value.getTime() > clock.now(), 'must lie in the future')
        .nullish()
        .meta({ description: 'Never, when it is left out.' }),
    },
    jsonObject,
  );
}

const linkIdentity = {
  shortCode: z.string(),
  shortUrl: z.string().meta({ description: 'What people open.' }),
};

export const createdLink = z.object({
  ...linkIdentity,
  deleteToken: z.string().meta({ description: 'Deletes the link. Given out this once.' }),
  expiresAt: timestamp.nullable(),
  hasPassword: z.boolean(),
});

export const linkReply = z.object({
  ...linkIdentity,
  originalUrl: z
    .string()
    .optional()
    .meta({ description: 'Left out when the link has a password or has expired.' }),
  hasPassword: z.boolean(),
  expiresAt: timestamp.nullable(),
  clickCount: z.int(),
  createdAt: timestamp,
});

export const verifyBody = z.object(
  {
    shortCode: z
      .string({ error: requiredText })
      .regex(SHORT_CODE_PATTERN, 'must be 3 to 20 characters of a-z, A-Z, 0-9, _ and -'),
    password: z.string({ error: requiredText }),
  },
  jsonObject,
);

export const verifiedLink = z.object({ originalUrl: z.string() });

export const deletedLink = z.object({ message: z.string() });

const DAYS = 'must be a whole number from 1 to 365';

export const statisticsQuery = z.object({
  days: z
    .string({ error: 'must be given once' })
    .regex(/^[1-9]\d{0,2}$/, DAYS)
    .transform(Number)
    .refine((days) => days <= 365, DAYS)
    .prefault('30')
    .meta({ description: 'Length of the timeline in days: 1 to 365.' }),
});

const names = z
  .array(z.object({ name: z.string(), count: z.int() }))
  .meta({ description: 'At most 10, by count, then name.' });

export const linkStatisticsReply = z.object({
  shortCode: z.string(),
  totalClicks: z.int(),
  createdAt: timestamp,
  expiresAt: timestamp.nullable(),
  timeline: z
    .array(z.object({ date: z.iso.date(), clicks: z.int() }))
    .meta({ description: 'One entry a day, oldest first, today (UTC) last.' }),
  browsers: names,
  operatingSystems: names,
  devices: names,
  topReferrers: z
    .array(z.object({ host: z.string(), count: z.int() }))
    .meta({ description: 'At most 10; `Direct` is no referrer, `Other` the rare ones beyond 200 hosts.' }),
});

export const serviceStatisticsReply = z.object({
  totalLinks: z.int().meta({ description: 'Ever created, those that are gone among them.' }),
  totalClicks: z.int(),
  linksToday: z.int().meta({ description: 'Since 00:00 UTC.' }),
  linksThisWeek: z.int().meta({ description: 'Since Monday 00:00 UTC.' }),
  topBrowsers: names,
  topOperatingSystems: names,
  topDevices: names,
});

export const qrQuery = z.object({
  format: z.enum(['png', 'svg'], { error: 'must be png or svg' }).default('png'),
});
