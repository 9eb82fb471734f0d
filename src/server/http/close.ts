// Stops an application without cutting an answer and without waiting for clients that have nothing to ask.
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** Requests of an application that have not been answered yet. */
export interface InFlight {
  requests: number;
}

const inFlight = new WeakMap<FastifyInstance, InFlight>();
const CHECK_EVERY_MS = 20;

/** Counts the requests that reach an application's routes. */
export function countInFlight(app: FastifyInstance, count: InFlight): void {
  inFlight.set(app, count);
  app.addHook('onRequest', async (_request, reply) => {
    count.requests++;
    // Fires once, whether the answer was sent or the client went away.
    reply.raw.once('close', () => {
      count.requests--;
    });
  });
}

/** Accepts nothing new, finishes what runs, then closes what is left. */
export async function closeGracefully(app: FastifyInstance): Promise<void> {
  let closed = false;
  const closing = app.close().finally(() => {
    closed = true;
  });
  while (!closed) {
    await Promise.race([closing, pause(CHECK_EVERY_MS)]);
    // Node waits for connections on which no request ever came, up to their timeout of a minute.
    if (!closed && (inFlight.get(app)?.requests ?? 0) === 0) app.server.closeAllConnections();
  }
  await closing;
}
