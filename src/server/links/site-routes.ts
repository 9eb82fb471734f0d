// The pages of the link service and the forms they post. Plain redirects are answered before these (redirect.ts).
import { z } from 'zod';
import { deleteLink } from '../../services/links/delete-link.ts';
import { findLink, type Link } from '../../services/links/find-link.ts';
import type { LinkService } from '../../services/links/link-service.ts';
import { linkStatistics } from '../../services/links/link-statistics.ts';
import { serviceStatistics } from '../../services/links/service-statistics.ts';
import { unlockLink } from '../../services/links/unlock-link.ts';
import { HttpError } from '../http/errors.ts';
import { defineRoute, type RequestContext, type Route, type RouteReply } from '../http/route.ts';
import { LEADING_ELSEWHERE_POLICY } from '../http/security-headers.ts';
import type { AssetUrl } from '../pages/layout.ts';
import { createFromForm } from './create-from-form.ts';
import { creationLimit, unlockLimit } from './limits.ts';
import { createPage } from './pages/create-page.ts';
import { deletedPage, deletePage } from './pages/delete-page.ts';
import { linkStatsPage } from './pages/link-stats-page.ts';
import { previewPage } from './pages/preview-page.ts';
import { statsPage } from './pages/stats-page.ts';
import { unlockPage } from './pages/unlock-page.ts';
import { REDIRECT_CACHE_CONTROL, REDIRECT_STATUS } from './redirect.ts';
import { shortUrlOf } from './represent.ts';
import { shortCodeParam, statisticsQuery } from './schemas.ts';
import { translatingLinkErrors } from './translate-errors.ts';
import { visitorOf } from './visitor.ts';

const FORM = 'application/x-www-form-urlencoded';
const page = { description: 'A page.', contentType: 'text/html; charset=utf-8' };
const formFields = z.record(z.string(), z.string());

/** A short code, and a `+` behind it for its preview. */
const target = z.object({ target: z.string().regex(/^[a-zA-Z0-9_-]{3,20}\+?$/) });

/** The routes of the site itself. */
export function linkSiteRoutes(service: LinkService, assets: AssetUrl): Route[] {
  const { platform } = service;
  const now = () => new Date(platform.clock.now());
  return [
    defineRoute({
      method: 'GET',
      path: '/',
      operationId: 'createPage',
      summary: 'The page that creates a link',
      query: z.object({ url: z.string().optional().catch(undefined) }),
      replies: { 200: page },
      handler: async ({ query }) => ({
        status: 200,
        body: createPage({ assets, values: query.url === undefined ? {} : { url: query.url } }),
      }),
    }),
    defineRoute({
      method: 'POST',
      path: '/',
      operationId: 'createLinkByForm',
      summary: 'Create a link from the form',
      body: formFields,
      bodyTypes: [FORM],
      replies: { 201: page, 400: page, 409: page },
      limit: creationLimit(platform),
      handler: async ({ body }) => createFromForm(service, assets, body),
    }),
    defineRoute({
      method: 'GET',
      path: '/stats',
      operationId: 'statisticsPage',
      summary: 'The statistics as a page',
      replies: { 200: page },
      handler: async () => ({
        status: 200,
        body: statsPage({ assets, ...(await serviceStatistics(service)) }),
      }),
    }),
    defineRoute({
      method: 'GET',
      path: '/{target}',
      operationId: 'openLink',
      summary: 'Where a link leads: a redirect, the page that asks for its password, or its preview',
      params: target,
      replies: { 200: page, 302: { description: 'The destination.' } },
      errors: ['NOT_FOUND', 'GONE'],
      handler: async ({ params, context }) => {
        const shortCode = params.target.replace(/\+$/, '');
        const link = await translatingLinkErrors(() => findLink(service, shortCode));
        const shortUrl = shortUrlOf(platform.config, shortCode);
        if (params.target !== shortCode) {
          return { status: 200, body: previewPage({ assets, ...link, shortUrl, now: now() }) };
        }
        refuseExpired(link);
        if (link.originalUrl === null) return askForPassword(200, { assets, shortCode });
        // A spelling that the hot path does not know, or a link made since it looked.
        countClick(service, link, context);
        return redirectTo(link.originalUrl);
      },
    }),
    defineRoute({
      method: 'POST',
      // One name for one place in the path: the router knows these two as one address.
      path: '/{target}',
      operationId: 'unlockLinkByForm',
      summary: 'Unlock a link from its form',
      params: z.object({ target: shortCodeParam.shape.code }),
      body: formFields,
      bodyTypes: [FORM],
      replies: { 302: { description: 'The destination.' }, 401: page },
      limit: unlockLimit(platform),
      handler: async ({ params, body, context }) =>
        unlockFromForm(service, assets, params.target, body.password ?? '', context),
    }),
    defineRoute({
      method: 'GET',
      path: '/{code}/stats',
      operationId: 'linkStatisticsPage',
      summary: 'The statistics of a link as a page',
      params: shortCodeParam,
      query: z.object({ days: statisticsQuery.shape.days.catch(30) }),
      replies: { 200: page },
      errors: ['NOT_FOUND'],
      handler: async ({ params, query }) => {
        const { days } = query;
        const found = await translatingLinkErrors(() => linkStatistics(service, params.code, days));
        const shortUrl = shortUrlOf(platform.config, params.code);
        return { status: 200, body: linkStatsPage({ assets, ...found, shortUrl, days, now: now() }) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/{code}/delete',
      operationId: 'deletePage',
      summary: 'The page that deletes a link',
      params: shortCodeParam,
      replies: { 200: page },
      handler: async ({ params }) => ({ status: 200, body: deletePage({ assets, shortCode: params.code }) }),
    }),
    defineRoute({
      method: 'POST',
      path: '/{code}/delete',
      operationId: 'deleteLinkByForm',
      summary: 'Delete a link from the form',
      params: shortCodeParam,
      body: formFields,
      bodyTypes: [FORM],
      replies: { 200: page, 404: page },
      handler: async ({ params, body }) => {
        const shortCode = params.code;
        const token = (body.token ?? '').trim();
        try {
          await translatingLinkErrors(() => deleteLink(service, shortCode, token));
          return { status: 200, body: deletedPage({ assets, shortCode }) };
        } catch (error) {
          if (!(error instanceof HttpError) || error.code !== 'NOT_FOUND') throw error;
          const message = 'The link is already gone, or this is not its delete token.';
          return { status: 404, body: deletePage({ assets, shortCode, token, error: message }) };
        }
      },
    }),
  ];
}

function refuseExpired({ isExpired }: Link): void {
  if (isExpired) throw new HttpError('GONE', 'This link has expired.');
}

function countClick({ platform, clicks }: LinkService, { linkKey }: Link, context: RequestContext): void {
  platform.metrics.linkRedirects.inc();
  const { isBot, ...visitor } = visitorOf(context.headers, context.addressHash);
  if (!isBot && !context.isHead) clicks.add({ ...visitor, linkKey, clickedAt: platform.clock.now() });
}

function askForPassword(status: number, data: Parameters<typeof unlockPage>[0]): RouteReply {
  return {
    status,
    body: unlockPage(data),
    headers: { 'content-security-policy': LEADING_ELSEWHERE_POLICY },
  };
}

function redirectTo(url: string): RouteReply {
  return {
    status: REDIRECT_STATUS,
    headers: { location: new URL(url).href, 'cache-control': REDIRECT_CACHE_CONTROL },
  };
}

async function unlockFromForm(
  service: LinkService,
  assets: AssetUrl,
  shortCode: string,
  password: string,
  { headers, addressHash }: RequestContext,
): Promise<RouteReply> {
  const { isBot: _, ...visitor } = visitorOf(headers, addressHash);
  try {
    return redirectTo(
      await translatingLinkErrors(() => unlockLink(service, { shortCode, password, visitor })),
    );
  } catch (error) {
    if (!(error instanceof HttpError) || error.code !== 'UNAUTHENTICATED') throw error;
    return askForPassword(401, { assets, shortCode, error: error.message });
  }
}
