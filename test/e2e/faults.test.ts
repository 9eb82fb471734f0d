// What happens when processes die and servers go away: nothing that was acknowledged is lost, and service returns.
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { backends, createPostgresDatabase } from '../support/databases.ts';
import { type PrivateService, startPostgres, startRedis } from '../support/private-services.ts';
import { runSvc } from '../support/run-svc.ts';
import { type ServedSvc, serveSvc, until } from '../support/serve.ts';
import { TEST_SECRET } from '../support/test-platform.ts';

/** What is not under load here would only take its time to start. */
const PASTES_ONLY = ['--only', 'paste', '--no-scheduler'];

interface Acknowledged {
  pastes: Map<string, string>;
  /** Highest view count that a reader was told. */
  views: number;
  refusals: Set<number>;
}

/** Creates and reads at once until the server is gone or `stop` aborts; tells what was acknowledged. */
async function load(url: string, hotId: string, stop: AbortSignal): Promise<Acknowledged> {
  const seen: Acknowledged = { pastes: new Map(), views: 0, refusals: new Set() };
  const worker = async (name: number) => {
    for (let round = 0; !stop.aborted; round++) {
      try {
        const content = `content ${name} ${round}`;
        const [created, read] = await Promise.all([
          fetch(`${url}/api/pastes`, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body: JSON.stringify({ content, expiresIn: '1d' }),
          }),
          fetch(`${url}/api/pastes/${hotId}`),
        ]);
        if (created.status === 201)
          seen.pastes.set(((await created.json()) as { pasteId: string }).pasteId, content);
        else seen.refusals.add(created.status);
        if (read.status === 200)
          seen.views = Math.max(seen.views, ((await read.json()) as { viewCount: number }).viewCount);
        else seen.refusals.add(read.status);
      } catch {
        // The server is gone in the middle of an answer: that answer was not given.
        await new Promise((resolve) => setTimeout(resolve, 5));
      }
    }
  };
  await Promise.all(Array.from({ length: 8 }, (_, index) => worker(index)));
  return seen;
}

async function createHot(url: string, customId: string): Promise<void> {
  const body = JSON.stringify({ content: 'hot', expiresIn: '1d', customId });
  const response = await fetch(`${url}/api/pastes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body,
  });
  expect(response.status).toBe(201);
}

async function expectAllThere(url: string, { pastes, views }: Acknowledged, hotId: string): Promise<void> {
  expect(pastes.size).toBeGreaterThan(0);
  for (const [pasteId, content] of pastes) {
    const response = await fetch(`${url}/raw/${pasteId}`);
    expect([pasteId, response.status, await response.text()]).toEqual([pasteId, 200, content]);
  }
  const hot = (await (await fetch(`${url}/api/pastes/${hotId}`)).json()) as { viewCount: number };
  expect(hot.viewCount).toBeGreaterThan(views);
}

describe.each(backends())('SIGKILL under load on $name', (backend) => {
  test('loses no acknowledged paste and no acknowledged read, twice over', {
    timeout: 60_000,
  }, async () => {
    const database = await backend.create();
    const env = { ...database.settings };
    for (let round = 0; round < 2; round++) {
      const server = await serveSvc({ env, args: PASTES_ONLY });
      const hotId = `hot-paste-${round}`;
      await createHot(server.url, hotId);
      const stop = new AbortController();
      const loading = load(server.url, hotId, stop.signal);
      let started = false;
      await until(async () => {
        const stats = (await (await fetch(`${server.url}/api/stats`)).json()) as { totalPastes: number };
        started = stats.totalPastes > (round + 1) * 40;
        return started;
      });
      await server.end('SIGKILL');
      stop.abort();
      const seen = await loading;
      const again = await serveSvc({ env, args: PASTES_ONLY });
      await expectAllThere(again.url, seen, hotId);
      expect(await again.end('SIGTERM')).toBe(0);
    }
    await database.remove();
  });

  test('SIGTERM under load answers every request that was accepted and exits 0', {
    timeout: 60_000,
  }, async () => {
    const database = await backend.create();
    const server = await serveSvc({ env: { ...database.settings }, args: PASTES_ONLY });
    await createHot(server.url, 'hot-paste');
    const answers = Promise.all(
      Array.from({ length: 100 }, () =>
        fetch(`${server.url}/api/pastes/hot-paste`).then(
          (r) => r.status,
          () => 'refused',
        ),
      ),
    );
    const code = await server.end('SIGTERM');
    expect(code).toBe(0);
    // Refused before it was accepted, told that the server stops, or answered: never cut in the middle.
    for (const status of await answers) expect([200, 503, 'refused']).toContain(status);
    expect(server.log()).toContain('"msg":"stopped"');
    await database.remove();
  });
});

describe.skipIf(inject('postgresBin') === '')('PostgreSQL going away', () => {
  let postgres: PrivateService;
  let server: ServedSvc;
  beforeAll(async () => {
    postgres = await startPostgres(inject('postgresBin'));
    const env = { DATABASE_URL: postgres.url, SVC_SECRET: TEST_SECRET };
    expect((await runSvc(['migrate', 'up'], { env })).code).toBe(0);
    server = await serveSvc({ env, args: PASTES_ONLY });
  });
  afterAll(async () => {
    await server.end('SIGTERM');
    await postgres.remove();
  });

  test('under load is answered with 503, and all is well when it is back', { timeout: 60_000 }, async () => {
    await createHot(server.url, 'hot-paste');
    const stop = new AbortController();
    const loading = load(server.url, 'hot-paste', stop.signal);
    await until(
      async () =>
        ((await (await fetch(`${server.url}/api/stats`)).json()) as { totalPastes: number }).totalPastes > 40,
    );
    await postgres.kill();

    const refused = await fetch(`${server.url}/api/pastes/hot-paste`);
    expect(refused.status).toBe(503);
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(await refused.json()).toEqual({ error: 'The database cannot be reached at the moment.' });
    const health = await fetch(`${server.url}/api/health`);
    expect([health.status, await health.json()]).toEqual([503, { ok: false, db: false, redis: true }]);
    expect((await fetch(`${server.opsUrl}/readyz`)).status).toBe(503);
    expect((await fetch(`${server.opsUrl}/livez`)).status).toBe(200);

    await postgres.start();
    await until(async () => (await fetch(`${server.url}/api/health`)).ok);
    stop.abort();
    const seen = await loading;
    expect([...seen.refusals].filter((status) => status !== 503)).toEqual([]);
    await expectAllThere(server.url, seen, 'hot-paste');
  });
});

describe.skipIf(inject('redisServer') === '' || inject('postgresUrl') === '')('Redis going away', () => {
  test('is said in health, and limits hold all the same', { timeout: 60_000 }, async () => {
    const redis = await startRedis(inject('redisServer'));
    const database = await createPostgresDatabase(inject('postgresUrl'));
    const server = await serveSvc({
      args: PASTES_ONLY,
      env: { ...database.settings, REDIS_URL: redis.url, PASTE_RATE_LIMIT_CREATE_PER_HOUR: '3' },
    });
    const attempt = async () =>
      (
        await fetch(`${server.url}/api/pastes`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: '{"content":"x","expiresIn":"1h"}',
        })
      ).status;
    const redisIsUp = async () =>
      ((await (await fetch(`${server.url}/api/health`)).json()) as { redis: boolean }).redis;

    expect(await attempt()).toBe(201);
    await redis.kill();
    await until(async () => !(await redisIsUp()));
    expect((await fetch(`${server.url}/api/health`)).status).toBe(200);
    const statuses = [];
    for (let count = 0; count < 6; count++) statuses.push(await attempt());
    expect(statuses).toEqual([201, 201, 201, 429, 429, 429]);
    expect(server.log().split('Redis is away')).toHaveLength(2);

    await redis.start();
    await until(redisIsUp);
    // This Redis kept nothing, so its windows are empty again.
    expect(await attempt()).toBe(201);
    expect(server.log()).toContain('Redis is back');
    await server.end('SIGTERM');
    await redis.remove();
    await database.remove();
  });
});
