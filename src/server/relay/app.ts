// The relay on a port of its own: upgrades, and its health.
import type { FastifyInstance } from 'fastify';
import type { Platform } from '../../platform/platform.ts';
import { createApp } from '../http/app.ts';
import { nestedErrors } from '../http/error-shapes.ts';
import { healthRoute } from '../http/health.ts';
import { robotsRoute } from '../http/robots-route.ts';
import type { Relay } from './relay.ts';

/** Makes the application. The relay is closed by whoever opened it. */
export async function createRelayApp(platform: Platform, relay: Relay): Promise<FastifyInstance> {
  const app = await createApp({
    service: 'relay',
    platform,
    errors: nestedErrors,
    api: [healthRoute(platform)],
    site: [robotsRoute()],
  });
  attachRelay(app, relay);
  return app;
}

/** Lets an application take upgrades. */
export function attachRelay(app: FastifyInstance, relay: Relay): void {
  app.server.on('upgrade', relay.upgrade);
  // Open connections are not waited for.
  app.addHook('preClose', () => relay.close());
}
