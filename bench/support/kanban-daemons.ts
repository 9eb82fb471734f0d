// A kanban service of separate daemons, and somebody with a board in it.
import { type Furnished, furnish, UNLIMITED } from '../../test/support/kanban-server.ts';
import type { PrivateService } from '../../test/support/private-services.ts';
import { durablePostgres, privateRedis, type RunningServer, startSvc, svc } from './processes.ts';

export interface KanbanDaemons {
  api: RunningServer;
  /** What every daemon needs. */
  env: Record<string, string>;
  home: Furnished;
  postgres: PrivateService;
  stop(): Promise<void>;
}

/** Starts an API over its own PostgreSQL and Redis. */
export async function startKanban(settings: Record<string, string> = {}): Promise<KanbanDaemons> {
  const [postgres, redis] = [await durablePostgres(), await privateRedis()];
  const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, ...UNLIMITED, ...settings };
  await svc(['migrate', 'up'], env);
  const api = await startSvc({ env, daemon: 'api', args: ['--only', 'kanban'] });
  return {
    api,
    env,
    postgres,
    home: await furnish({ url: api.kanbanUrl }),
    stop: async () => {
      await api.stop();
      await redis.remove();
      await postgres.remove();
    },
  };
}
