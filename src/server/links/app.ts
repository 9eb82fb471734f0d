// The link service over HTTP: redirects, API, pages.
import { STATUS_CODES } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Platform } from '../../platform/platform.ts';
import { openLinkService } from '../../services/links/link-service.ts';
import { createApp, type ErrorPage } from '../http/app.ts';
import { loadAssets } from '../http/assets.ts';
import { documentationRoutes } from '../http/documentation.ts';
import { flatErrors } from '../http/error-shapes.ts';
import type { HttpError } from '../http/errors.ts';
import { healthRoute } from '../http/health.ts';
import { robotsRoute } from '../http/robots-route.ts';
import { wantsPage } from '../http/wants-page.ts';
import type { AssetUrl } from '../pages/layout.ts';
import { linkApiRoutes } from './api-routes.ts';
import { errorPage, expiredPage, notFoundPage } from './pages/message-page.ts';
import { redirectShortCodes } from './redirect.ts';
import { linkSiteRoutes } from './site-routes.ts';

export interface LinkAppOptions {
  platform: Platform;
  /** Version of the program, for the OpenAPI document. */
  version: string;
}

/** Makes the link application with its service; closing it closes both. */
export async function createLinkApp({ platform, version }: LinkAppOptions): Promise<FastifyInstance> {
  const assets = loadAssets([
    new URL('../http/assets/', import.meta.url),
    new URL('./assets/', import.meta.url),
  ]);
  const service = await openLinkService(platform);
  const documented = [...linkApiRoutes(service), healthRoute(platform)];
  const documentation = documentationRoutes(
    {
      title: 'Links',
      description:
        'Create, read, unlock and delete short links, their statistics and QR codes. All operations are public; creation is rate limited.',
      version,
      url: () => platform.config.links.url,
      errors: flatErrors,
      routes: documented,
    },
    assets.url('docs.css'),
  );
  const app = await createApp({
    service: 'links',
    platform,
    errors: flatErrors,
    api: [...documented, ...documentation],
    site: [...linkSiteRoutes(service, assets.url), assets.route, robotsRoute()],
    errorPage: (error, request) => pageFor(error, request, assets.url),
    intercept: redirectShortCodes(service),
  });
  app.addHook('onClose', () => service.close());
  return app;
}

function pageFor(error: HttpError, request: FastifyRequest, assets: AssetUrl): ErrorPage | undefined {
  if (!wantsPage(request)) return undefined;
  const contentType = 'text/html; charset=utf-8';
  if (error.code === 'NOT_FOUND') return { contentType, body: notFoundPage({ assets }) };
  if (error.code === 'GONE') return { contentType, body: expiredPage({ assets }) };
  const { statusCode: status, message } = error;
  return {
    contentType,
    body: errorPage({ assets, status, title: STATUS_CODES[status] ?? 'Error', message }),
  };
}
