// Stops an application without cutting an answer and without waiting for clients that have nothing to ask.
import { setTimeout as pause } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

export interface InFlight {
  /** Requests that have not been answered yet, by clients that are still there. */
  requests: number;
  /** What is being done for clients, those that went away too. */
  handlers: number;
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

/** Counts what is done for a request, so that nobody closes what it works with before it has ended. */
export async function countHandler<T>(app: FastifyInstance, handler: () => Promise<T>): Promise<T> {
  const count = inFlight.get(app);
  if (!count) return handler();
  count.handlers++;
  try {
    return await handler();
  } finally {
    count.handlers--;
  }
}

/** Accepts nothing new, finishes what runs, then closes what is left. */
export async function closeGracefully(app: FastifyInstance): Promise<void> {
  let closed = false;
  const closing = app.close().finally(() => {
    closed = true;
  });
  const count = inFlight.get(app) ?? { requests: 0, handlers: 0 };
  while (!closed) {
    await Promise.race([closing, pause(CHECK_EVERY_MS)]);
    // Node waits for connections on which no request ever came, up to their timeout of a minute.
    if (!closed && count.requests === 0) app.server.closeAllConnections();
  }
  await closing;
  while (count.handlers > 0) await pause(CHECK_EVERY_MS);
}
