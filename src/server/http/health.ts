// Whether this process can do its work: for the services' /api/health and the operator endpoint.
import { sql } from 'kysely';
import { z } from 'zod';
import type { Platform } from '../../platform/platform.ts';
import { defineRoute, type Route } from './route.ts';

const ANSWER_WITHIN_MS = 2_000;

export interface Health {
  /** Whether requests can be answered: the database is there. */
  ok: boolean;
  db: boolean;
  /** True for the in-process store too. */
  redis: boolean;
}

/** Asks the database and the ephemeral store; answers within 2 seconds whatever they do. */
export async function checkHealth({ database, ephemeral }: Platform): Promise<Health> {
  const [db, redis] = await Promise.all([
    withinTime(sql`SELECT 1`.execute(database).then(() => true)),
    withinTime(ephemeral.ping()),
  ]);
  return { ok: db, db, redis };
}

/** `GET /api/health`, the same in every service (contract, section 2). */
export function healthRoute(platform: Platform): Route {
  const schema = z.object({ ok: z.boolean(), db: z.boolean(), redis: z.boolean() });
  return defineRoute({
    method: 'GET',
    path: '/health',
    operationId: 'health',
    summary: 'Whether the service can answer',
    description: 'Redis away is no failure: each process then limits by itself.',
    replies: {
      200: { description: 'The service can answer.', schema },
      503: { description: 'The database is away.', schema },
    },
    handler: async () => {
      const health = await checkHealth(platform);
      return { status: health.ok ? 200 : 503, body: health };
    },
  });
}

function withinTime(answer: Promise<boolean>): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ANSWER_WITHIN_MS, false);
  });
  return Promise.race([answer.catch(() => false), late]).finally(() => clearTimeout(timer));
}
