// The link API (link-api.md), route by route.
import { createHash } from 'node:crypto';
import { createLink } from '../../services/links/create-link.ts';
import { deleteLink } from '../../services/links/delete-link.ts';
import { findLink } from '../../services/links/find-link.ts';
import type { LinkService } from '../../services/links/link-service.ts';
import { linkStatistics } from '../../services/links/link-statistics.ts';
import { serviceStatistics } from '../../services/links/service-statistics.ts';
import { unlockLink } from '../../services/links/unlock-link.ts';
import { matchesEtag } from '../http/assets.ts';
import { HttpError } from '../http/errors.ts';
import { defineRoute, type RequestContext, type Route } from '../http/route.ts';
import { creationLimit, unlockLimit } from './limits.ts';
import { representCreated, representLink, representStatistics, shortUrlOf } from './represent.ts';
import * as schema from './schemas.ts';
import { translatingLinkErrors } from './translate-errors.ts';
import { visitorOf } from './visitor.ts';

const QR_TYPES = { png: 'image/png', svg: 'image/svg+xml' } as const;

/** The routes under /api of the link service. */
export function linkApiRoutes(service: LinkService): Route[] {
  const { platform } = service;
  const { config } = platform;
  return [
    defineRoute({
      method: 'POST',
      path: '/links',
      operationId: 'createLink',
      summary: 'Create a link',
      description:
        'The delete token is given out this once. Only created links count towards the rate limit. Private and reserved addresses are refused in any spelling.',
      body: schema.createLinkBody(platform),
      replies: { 201: { description: 'The link was created.', schema: schema.createdLink } },
      errors: ['CONFLICT'],
      limit: creationLimit(platform),
      handler: async ({ body }) => {
        const created = await translatingLinkErrors(() => createLink(service, body));
        const reply = representCreated(config, created);
        return { status: 201, body: reply, headers: { location: reply.shortUrl } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/links/{code}',
      operationId: 'readLink',
      summary: 'Read what is known of a link',
      description: 'Counts no click. `originalUrl` is left out when the link has a password or has expired.',
      params: schema.shortCodeParam,
      replies: { 200: { description: 'The link.', schema: schema.linkReply } },
      errors: ['NOT_FOUND'],
      handler: async ({ params }) => {
        const link = await translatingLinkErrors(() => findLink(service, params.code));
        return { status: 200, body: representLink(config, link) };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/links/{code}',
      operationId: 'deleteLink',
      summary: 'Delete a link and its clicks',
      description: 'A wrong token and an unknown link are one answer.',
      params: schema.shortCodeParam,
      requestHeaders: { Authorization: 'The delete token: `Bearer dk_…`.' },
      replies: { 200: { description: 'The link is gone.', schema: schema.deletedLink } },
      errors: ['UNAUTHENTICATED', 'NOT_FOUND'],
      handler: async ({ params, context }) => {
        await translatingLinkErrors(() => deleteLink(service, params.code, bearerTokenIn(context)));
        return { status: 200, body: { message: 'The link and its clicks are deleted.' } };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/verify',
      operationId: 'verifyLink',
      summary: 'Unlock a link with its password',
      description:
        'Counts as a click. A wrong password, an unknown or expired link, and one without a password are one answer.',
      body: schema.verifyBody,
      replies: { 200: { description: 'Where the link leads.', schema: schema.verifiedLink } },
      errors: ['UNAUTHENTICATED'],
      limit: unlockLimit(platform),
      handler: async ({ body, context }) => {
        const { isBot: _, ...visitor } = visitorOf(context.headers, context.addressHash);
        const originalUrl = await translatingLinkErrors(() => unlockLink(service, { ...body, visitor }));
        return { status: 200, body: { originalUrl } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/links/{code}/stats',
      operationId: 'linkStatistics',
      summary: 'Statistics of a link',
      params: schema.shortCodeParam,
      query: schema.statisticsQuery,
      replies: { 200: { description: 'The statistics.', schema: schema.linkStatisticsReply } },
      errors: ['NOT_FOUND'],
      handler: async ({ params, query }) => {
        const found = await translatingLinkErrors(() => linkStatistics(service, params.code, query.days));
        return { status: 200, body: representStatistics(found) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/links/{code}/qr',
      operationId: 'linkQrCode',
      summary: 'The short URL as a QR code',
      description: 'A PNG of 512 × 512 pixels, or an SVG.',
      params: schema.shortCodeParam,
      query: schema.qrQuery,
      replies: {
        200: {
          description: 'The QR code.',
          contentType: QR_TYPES.png,
          otherContentTypes: [QR_TYPES.svg],
        },
        304: { description: 'Unchanged.' },
      },
      errors: ['NOT_FOUND'],
      handler: async ({ params, query, context }) => {
        await translatingLinkErrors(() => findLink(service, params.code));
        const url = shortUrlOf(config, params.code);
        const etag = `"${createHash('sha256').update(`${query.format} ${url}`).digest('base64url').slice(0, 16)}"`;
        const headers = { etag, 'cache-control': 'public, max-age=86400' };
        if (matchesEtag(context.headers['if-none-match'], etag)) return { status: 304, headers };
        return {
          status: 200,
          body: await service.qrCodes.draw(url, query.format),
          headers: {
            ...headers,
            'content-type': QR_TYPES[query.format],
            // A picture to be shown anywhere.
            'cross-origin-resource-policy': 'cross-origin',
            'content-disposition': `inline; filename="app-${params.code}.${query.format}"`,
          },
        };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/stats',
      operationId: 'serviceStatistics',
      summary: 'Anonymous counts over all links',
      description: 'At most 5 minutes old.',
      replies: { 200: { description: 'The counts.', schema: schema.serviceStatisticsReply } },
      handler: async () => ({ status: 200, body: await serviceStatistics(service) }),
    }),
  ];
}

/** The token of `Authorization: Bearer …` (RFC 6750, section 2.1). */
function bearerTokenIn({ headers }: RequestContext): string {
  const token = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i.exec(headers.authorization?.toString() ?? '')?.[1];
  if (token !== undefined) return token;
  throw new HttpError(
    'UNAUTHENTICATED',
    'The delete token is missing: Authorization: Bearer <deleteToken>.',
    {
      headers: { 'www-authenticate': 'Bearer' },
    },
  );
}
