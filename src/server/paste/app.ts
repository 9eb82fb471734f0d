// The paste service over HTTP: API, pages, raw form.
import { STATUS_CODES } from 'node:http';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Platform } from '../../platform/platform.ts';
import { openPasteService } from '../../services/paste/paste-service.ts';
import { createApp, type ErrorPage } from '../http/app.ts';
import { loadAssets } from '../http/assets.ts';
import { documentationRoutes } from '../http/documentation.ts';
import { flatErrors } from '../http/error-shapes.ts';
import type { HttpError } from '../http/errors.ts';
import { healthRoute } from '../http/health.ts';
import { robotsRoute } from '../http/robots-route.ts';
import type { Route } from '../http/route.ts';
import { wantsPage } from '../http/wants-page.ts';
import { pasteApiRoutes } from './api-routes.ts';
import type { AssetUrl } from './pages/layout.ts';
import { errorPage, notFoundPage } from './pages/message-page.ts';
import { rawRoute } from './raw-route.ts';
import { pasteSiteRoutes } from './site-routes.ts';

export interface PasteAppOptions {
  platform: Platform;
  /** Version of the program, for the OpenAPI document. */
  version: string;
}

/** Makes the paste application with its service; closing it closes both. */
export async function createPasteApp({ platform, version }: PasteAppOptions): Promise<FastifyInstance> {
  const assets = loadAssets([
    new URL('../http/assets/', import.meta.url),
    new URL('./assets/', import.meta.url),
  ]);
  const reservedIds = new Set<string>(['api']);
  const service = await openPasteService(platform, reservedIds);
  const raw = rawRoute(service);
  const site = [...pasteSiteRoutes(service, assets.url), raw, assets.route, robotsRoute()];
  for (const id of firstSegments(site)) reservedIds.add(id);
  const documented = [...pasteApiRoutes(service), healthRoute(platform)];
  const documentation = documentationRoutes(
    {
      title: 'Paste',
      description:
        'Create, read, unlock and delete text pastes. All operations are public; creation is rate limited.',
      version,
      url: () => platform.config.paste.url,
      errors: flatErrors,
      routes: documented,
      siteRoutes: [raw],
    },
    assets.url('docs.css'),
  );
  const app = await createApp({
    service: 'paste',
    platform,
    errors: flatErrors,
    api: [...documented, ...documentation],
    site,
    errorPage: (error, request) => pageFor(error, request, assets.url),
  });
  app.addHook('onClose', () => service.close());
  return app;
}

/** What no custom id may be: the first path segments that the site uses itself. */
function firstSegments(routes: Route[]): string[] {
  return routes.map(({ path }) => path.split('/')[1] ?? '').filter((segment) => /^[\w-]+$/.test(segment));
}

function pageFor(error: HttpError, request: FastifyRequest, assets: AssetUrl): ErrorPage | undefined {
  if (!wantsPage(request)) return undefined;
  const contentType = 'text/html; charset=utf-8';
  if (error.code === 'NOT_FOUND') return { contentType, body: notFoundPage({ assets }) };
  const title = STATUS_CODES[error.statusCode] ?? 'Error';
  return { contentType, body: errorPage({ assets, status: error.statusCode, title, hint: error.message }) };
}
