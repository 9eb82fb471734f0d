// What happens to boards when PostgreSQL goes away under load.
import { expect, inject, test } from 'vitest';
import { furnish, type Json, sealed } from '../support/kanban-server.ts';
import { startPostgres } from '../support/private-services.ts';
import { runSvc } from '../support/run-svc.ts';
import { serveSvc, until } from '../support/serve.ts';
import { TEST_SECRET } from '../support/test-platform.ts';

test.skipIf(inject('postgresBin') === '')(
  'PostgreSQL killed under load: 503 while it is away, recovery without a restart, nothing acknowledged lost, no gap',
  { timeout: 60_000 },
  async () => {
    const postgres = await startPostgres(inject('postgresBin'));
    const env = {
      DATABASE_URL: postgres.url,
      SVC_SECRET: TEST_SECRET,
      KANBAN_RATE_LIMIT_MUTATIONS_PER_MINUTE: '0',
      KANBAN_RATE_LIMIT_READS_PER_MINUTE: '0',
    };
    expect((await runSvc(['migrate', 'up'], { env })).code).toBe(0);
    const served = await serveSvc({ env, args: ['--only', 'kanban', '--no-scheduler'] });
    const { owner, boardId, columnId } = await furnish({ url: served.kanbanUrl });

    const acknowledged: string[] = [];
    const statuses = new Set<number>();
    let stop = false;
    const worker = async () => {
      while (!stop) {
        const { status, body } = await owner.post(`/columns/${columnId}/cards`, { encTitle: sealed('card') });
        statuses.add(status);
        if (status === 201) acknowledged.push(body.id);
      }
    };
    const load = Array.from({ length: 4 }, worker);
    await until(() => acknowledged.length > 20);
    await postgres.kill();
    await until(() => statuses.has(503));
    const before = acknowledged.length;
    await postgres.start();
    await until(() => acknowledged.length > before + 20);
    stop = true;
    await Promise.all(load);

    expect([...statuses].sort()).toEqual([201, 503]);
    const { items } = (await owner.get(`/boards/${boardId}/cards`)).body;
    const there = new Set(items.map(({ id }: Json) => id));
    expect(acknowledged.filter((id) => !there.has(id))).toEqual([]);
    const newest = (await owner.get(`/boards/${boardId}/activity?limit=1`)).body.items[0].seq;
    // Board and column, and a row for each card: the change and its activity are one.
    expect(newest).toBe(2 + items.length);
    await served.end('SIGTERM');
    await postgres.remove();
  },
);
