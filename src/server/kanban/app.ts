// The kanban service over HTTP.
import type { FastifyInstance } from 'fastify';
import type { Platform } from '../../platform/platform.ts';
import type { KanbanService } from '../../services/kanban/kanban-service.ts';
import { openKanbanService } from '../../services/kanban/kanban-service.ts';
import { createApp } from '../http/app.ts';
import { loadAssets } from '../http/assets.ts';
import { documentationRoutes } from '../http/documentation.ts';
import { nestedErrors } from '../http/error-shapes.ts';
import { healthRoute } from '../http/health.ts';
import { robotsRoute } from '../http/robots-route.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { attachRelay } from '../relay/app.ts';
import type { Relay } from '../relay/relay.ts';
import { authRoutes } from './auth-routes.ts';
import { boardRoutes } from './board-routes.ts';
import { boardThingRoutes } from './board-thing-routes.ts';
import { cardContentRoutes } from './card-content-routes.ts';
import { cardRoutes } from './card-routes.ts';
import { integrationRoutes } from './integration-routes.ts';
import { type LiveStreams, openLiveStreams } from './live-stream.ts';
import { meRoutes } from './me-routes.ts';
import { workspaceRoutes } from './workspace-routes.ts';

export interface KanbanAppOptions {
  platform: Platform;
  /** Version of the program, for the OpenAPI document. */
  version: string;
  /** Takes upgrades on the same port. */
  relay?: Relay | undefined;
}

/** Every route under /api but health and documentation. */
export function kanbanRoutes(service: KanbanService, live: LiveStreams): Route[] {
  return [
    ...authRoutes(service),
    ...meRoutes(service),
    ...workspaceRoutes(service),
    ...boardRoutes(service),
    ...boardThingRoutes(service),
    ...cardRoutes(service),
    ...cardContentRoutes(service),
    ...integrationRoutes(service),
    live.route,
  ];
}

/** Whoever opens the origin in a browser finds the description of the API. */
const homeRoute = defineRoute({
  method: 'GET',
  path: '/',
  operationId: 'home',
  summary: 'To the reference',
  replies: { 302: { description: 'The reference.' } },
  handler: async () => ({ status: 302, headers: { location: '/api/docs' } }),
});

/** Makes the kanban application with its service; closing it closes both. */
export async function createKanbanApp({
  platform,
  version,
  relay,
}: KanbanAppOptions): Promise<FastifyInstance> {
  const assets = loadAssets([new URL('../http/assets/', import.meta.url)]);
  const service = await openKanbanService(platform);
  const live = await openLiveStreams(service);
  const documented = [...kanbanRoutes(service, live), healthRoute(platform)];
  const documentation = documentationRoutes(
    {
      title: 'Kanban',
      description:
        'Workspaces, boards and cards, end-to-end encrypted: the server stores ciphertext and metadata. Signing in sets a cookie. Encrypted fields come back byte for byte.',
      version,
      url: () => platform.config.kanban.url,
      errors: nestedErrors,
      routes: documented,
      securitySchemes: { session: { type: 'apiKey', in: 'cookie', name: 'svc_session' } },
    },
    assets.url('docs.css'),
  );
  const app = await createApp({
    service: 'kanban',
    platform,
    errors: nestedErrors,
    api: [...documented, ...documentation],
    site: [homeRoute, assets.route, robotsRoute()],
  });
  if (relay) attachRelay(app, relay);
  // Before the server waits for what runs: streams run until they are told to end.
  app.addHook('preClose', () => live.close());
  app.addHook('onClose', () => service.close());
  return app;
}
