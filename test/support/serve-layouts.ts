// The ways in which everything is served: in one process, and in daemons of each kind, two of each.
import { inject } from 'vitest';
import { type Backend, backends, type TestDatabase } from './databases.ts';
import { type ServedSvc, serveSvc } from './serve.ts';
import { TEST_SECRET } from './test-platform.ts';

export interface ServedLayout {
  /** Kanban APIs, and relays. */
  apis: string[];
  relays: string[];
  log(): string;
  end(): Promise<void>;
}

interface Layout {
  name: string;
  backend: Backend;
  serve(database: TestDatabase): Promise<ServedLayout>;
}

const UNLIMITED = {
  KANBAN_RATE_LIMIT_LOGIN_PER_MINUTE: '0',
  KANBAN_RATE_LIMIT_REGISTER_PER_HOUR: '0',
  KANBAN_RATE_LIMIT_MUTATIONS_PER_MINUTE: '0',
  WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
};

async function serveOne(database: TestDatabase): Promise<ServedLayout> {
  const served = await serveSvc({ env: { ...UNLIMITED, ...database.settings }, args: ['--only', 'kanban'] });
  const relay = served.kanbanUrl.replace('http', 'ws');
  return {
    apis: [served.kanbanUrl, served.kanbanUrl],
    relays: [`${relay}/api/ws`, `${served.relayUrl.replace('http', 'ws')}/api/ws`],
    log: served.log,
    end: async () => {
      await served.end('SIGTERM');
    },
  };
}

async function serveDaemons(database: TestDatabase): Promise<ServedLayout> {
  const env = {
    ...UNLIMITED,
    ...database.settings,
    SVC_SECRET: TEST_SECRET,
    REDIS_URL: inject('redisUrl'),
  };
  const first = await serveSvc({ env, daemon: 'api', args: ['--only', 'kanban'] });
  // Pages come from the first: its address is the public one.
  const all = { ...env, KANBAN_URL: first.kanbanUrl };
  const others: ServedSvc[] = [];
  for (const daemon of ['api', 'relay', 'relay', 'scheduler', 'scheduler'] as const) {
    others.push(await serveSvc({ env: all, daemon, args: daemon === 'api' ? ['--only', 'kanban'] : [] }));
  }
  const [api, ...rest] = others as [ServedSvc, ...ServedSvc[]];
  return {
    apis: [first.kanbanUrl, api.kanbanUrl],
    relays: rest.slice(0, 2).map(({ relayUrl }) => `${relayUrl.replace('http', 'ws')}/api/ws`),
    log: () => [first, ...others].map((served) => served.log()).join(''),
    end: async () => {
      await Promise.all([first, ...others].map((served) => served.end('SIGTERM')));
    },
  };
}

/** Everything in one process on the embedded database, and daemons over PostgreSQL and Redis where there are both. */
export function layouts(): Layout[] {
  return backends()
    .filter(({ name }) => name === 'embedded' || inject('redisUrl') !== '')
    .map((backend) => ({
      name: backend.name === 'embedded' ? 'svc serve' : 'daemons, two of each',
      backend,
      serve: backend.name === 'embedded' ? serveOne : serveDaemons,
    }));
}
