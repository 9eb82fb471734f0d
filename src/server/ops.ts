// The operator endpoint of a process: /metrics, /livez, /readyz. Not for the public; it has a port of its own.
import { type FastifyInstance, fastify } from 'fastify';
import type { Platform } from '../platform/platform.ts';
import { checkHealth } from './http/health.ts';

export interface Readiness {
  /** False while the process starts or stops: load balancers then send nobody here. */
  ready: boolean;
}

/** Makes the operator endpoint; nothing listens yet. */
export function createOpsApp(platform: Platform, readiness: Readiness): FastifyInstance {
  const app = fastify({ forceCloseConnections: true });
  app.get('/metrics', async (_request, reply) => {
    // Asked now: a gauge that is set when something happens tells untruths until it does.
    const { db, redis } = await checkHealth(platform);
    platform.metrics.databaseUp.set(Number(db));
    platform.metrics.redisUp.set(Number(redis));
    reply.type(platform.metrics.registry.contentType);
    return platform.metrics.registry.metrics();
  });
  app.get('/livez', async () => ({ ok: true }));
  app.get('/readyz', async (_request, reply) => {
    const health = await checkHealth(platform);
    const ok = readiness.ready && health.ok;
    return reply.code(ok ? 200 : 503).send({ ...health, ok, ready: readiness.ready });
  });
  return app;
}
