// What happens to links and their clicks when processes die and servers go away.
import { describe, expect, inject, test } from 'vitest';
import { openLinkService } from '../../src/services/links/link-service.ts';
import { backends, createPostgresDatabase, type TestDatabase } from '../support/databases.ts';
import { createLink, follow } from '../support/link-server.ts';
import { aClick, makeLink } from '../support/link-service.ts';
import { startPostgres, startRedis } from '../support/private-services.ts';
import { runSvc } from '../support/run-svc.ts';
import { type ServedSvc, serveSvc, until } from '../support/serve.ts';
import { openTestPlatform, TEST_SECRET } from '../support/test-platform.ts';

const serve = (settings: Record<string, string>): Promise<ServedSvc> =>
  serveSvc({ env: settings, args: ['--only', 'links', '--no-scheduler'] });
const linksOf = (served: ServedSvc) => ({ url: served.linksUrl });
const clicksOf = async (served: ServedSvc, code: string): Promise<number> => {
  const response = await fetch(`${served.linksUrl}/api/links/${code}`);
  return ((await response.json()) as { clickCount: number }).clickCount;
};

/** Follows a link until told to stop; answers when each redirect came, on the clock of `performance`. */
async function followUntil(served: ServedSvc, code: string, stop: AbortSignal): Promise<number[]> {
  const times: number[] = [];
  const worker = async () => {
    while (!stop.aborted) {
      const response = await follow(linksOf(served), code).catch(() => undefined);
      if (response?.status === 302) times.push(performance.now());
    }
  };
  await Promise.all(Array.from({ length: 4 }, worker));
  return times;
}

interface Installation {
  name: string;
  /** How many of the last milliseconds before a kill may be lost, and a margin for a busy machine. */
  lossMs: number;
  open(): Promise<{ settings: Record<string, string>; remove: () => Promise<void> }>;
}

// Without Redis the two databases are one code path.
const withoutRedis = backends()
  .slice(0, 1)
  .map(
    (backend): Installation => ({
      name: `${backend.name}, without Redis`,
      lossMs: 200,
      open: async () => {
        const database: TestDatabase = await backend.create();
        return { settings: { ...database.settings }, remove: database.remove };
      },
    }),
  );
const withRedis: Installation[] =
  inject('redisServer') === '' || inject('postgresUrl') === ''
    ? []
    : [
        {
          name: 'PostgreSQL and Redis',
          lossMs: 50,
          open: async () => {
            const database = await createPostgresDatabase(inject('postgresUrl'));
            const redis = await startRedis(inject('redisServer'));
            return {
              settings: { ...database.settings, REDIS_URL: redis.url },
              remove: async () => {
                await redis.remove();
                await database.remove();
              },
            };
          },
        },
      ];

describe.each([...withoutRedis, ...withRedis])('on $name', ({ lossMs, open }) => {
  test('SIGKILL loses the clicks of the last moment at most, and no unlock that was answered', {
    timeout: 60_000,
  }, async () => {
    const { settings, remove } = await open();
    const server = await serve(settings);
    const { shortCode } = await createLink(linksOf(server));
    const locked = await createLink(linksOf(server), { password: 'open sesame' });
    const stop = new AbortController();
    const following = followUntil(server, shortCode, stop.signal);
    let unlocked = 0;
    const unlocking = (async () => {
      while (!stop.signal.aborted) {
        const response = await fetch(`${server.linksUrl}/api/verify`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ shortCode: locked.shortCode, password: 'open sesame' }),
        }).catch(() => undefined);
        if (response?.status === 200) unlocked++;
      }
    })();
    await until(() => unlocked >= 5);
    const killedAt = performance.now();
    await server.end('SIGKILL');
    stop.abort();
    const times = await following;
    await unlocking;

    const again = await serve(settings);
    // What the journal holds is written down by whoever comes next.
    const mustBeThere = times.filter((time) => time < killedAt - lossMs).length;
    expect(mustBeThere).toBeGreaterThan(20);
    await until(async () => (await clicksOf(again, shortCode)) >= mustBeThere);
    expect(await clicksOf(again, shortCode)).toBeLessThanOrEqual(times.length + 4);
    expect(await clicksOf(again, locked.shortCode)).toBeGreaterThanOrEqual(unlocked);
    expect(await again.end('SIGTERM')).toBe(0);
    await remove();
  });

  test('SIGTERM loses nothing', { timeout: 60_000 }, async () => {
    const { settings, remove } = await open();
    const server = await serve(settings);
    const { shortCode } = await createLink(linksOf(server));
    const answers = await Promise.all(Array.from({ length: 300 }, () => follow(linksOf(server), shortCode)));
    expect(answers.every(({ status }) => status === 302)).toBe(true);
    expect(await server.end('SIGTERM')).toBe(0);
    const again = await serve(settings);
    expect(await clicksOf(again, shortCode)).toBe(300);
    await again.end('SIGTERM');
    await remove();
  });
});

describe.skipIf(inject('postgresBin') === '')('PostgreSQL going away', () => {
  test.each(inject('redisServer') === '' ? ['without'] : ['without', 'with'])(
    'stops no warm redirect; the rest is 503; every click is there when it is back, %s Redis',
    {
      timeout: 60_000,
    },
    async (redisOrNot) => {
      const postgres = await startPostgres(inject('postgresBin'));
      const redis = redisOrNot === 'with' ? await startRedis(inject('redisServer')) : undefined;
      const env = {
        DATABASE_URL: postgres.url,
        SVC_SECRET: TEST_SECRET,
        ...(redis && { REDIS_URL: redis.url }),
      };
      expect((await runSvc(['migrate', 'up'], { env })).code).toBe(0);
      const server = await serve(env);
      const [warm, cold] = [await createLink(linksOf(server)), await createLink(linksOf(server))];
      await follow(linksOf(server), warm.shortCode);
      await postgres.kill();

      for (let request = 0; request < 50; request++) {
        expect((await follow(linksOf(server), warm.shortCode)).status).toBe(302);
      }
      for (const path of [`/${cold.shortCode}`, `/api/links/${warm.shortCode}`, '/api/stats']) {
        const response = await fetch(server.linksUrl + path, { redirect: 'manual' });
        expect([path, response.status]).toEqual([path, 503]);
        expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      }
      const created = await fetch(`${server.linksUrl}/api/links`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"url":"https://example.com/"}',
      });
      expect(created.status).toBe(503);

      await postgres.start();
      await until(async () => (await fetch(`${server.linksUrl}/api/health`)).ok);
      await until(async () => (await clicksOf(server, warm.shortCode)) === 51);
      // With Redis they only waited in the journal.
      expect(server.log().includes('clicks are written down again')).toBe(redis === undefined);
      await server.end('SIGTERM');
      await postgres.remove();
      await redis?.remove();
    },
  );
});

describe.skipIf(inject('postgresBin') === '')('clicks that nothing takes', () => {
  test('wait in memory up to a bound; what is beyond is dropped, and counted', {
    timeout: 60_000,
  }, async () => {
    const postgres = await startPostgres(inject('postgresBin'));
    const settings = { DATABASE_URL: postgres.url, SVC_DATA_DIR: '/nonexistent' };
    const database = { settings, remove: async () => {} };
    const { platform, clock } = await openTestPlatform({ database });
    const service = await openLinkService(platform);
    const { linkKey } = await makeLink(service);
    await postgres.kill();
    for (let click = 0; click < 100_050; click++) service.clicks.add(aClick(linkKey, clock.now()));
    const dropped = async () => (await platform.metrics.linkClicksDropped.get()).values[0]?.value;
    expect(await dropped()).toBe(50);
    await expect(service.clicks.settle()).rejects.toThrow();

    await postgres.start();
    await until(async () => {
      await service.clicks.settle();
      return true;
    });
    const { clicks } = await platform.database
      .selectFrom('clickSummary')
      .select('clicks')
      .where('linkKey', '=', linkKey)
      .executeTakeFirstOrThrow();
    expect([clicks, await dropped()]).toEqual([100_000, 50]);
    await service.close();
    await platform.close();
    await postgres.remove();
  });
});

describe.skipIf(inject('redisServer') === '' || inject('postgresUrl') === '')('Redis going away', () => {
  test('stops no redirect, loses no click, and no deleted link comes back', { timeout: 60_000 }, async () => {
    const redis = await startRedis(inject('redisServer'));
    const database = await createPostgresDatabase(inject('postgresUrl'));
    const server = await serve({ ...database.settings, REDIS_URL: redis.url });
    const { shortCode, deleteToken } = await createLink(linksOf(server));
    for (let request = 0; request < 20; request++) await follow(linksOf(server), shortCode);
    await until(async () => (await clicksOf(server, shortCode)) === 20);
    await redis.kill();

    for (let request = 0; request < 30; request++) {
      expect((await follow(linksOf(server), shortCode)).status).toBe(302);
    }
    await until(async () => (await clicksOf(server, shortCode)) >= 50);
    const dropped = await (await fetch(`${server.opsUrl}/metrics`)).text();
    expect(dropped).toContain('svc_link_clicks_dropped_total 0');
    const removed = await fetch(`${server.linksUrl}/api/links/${shortCode}`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${deleteToken}` },
    });
    expect(removed.status).toBe(200);
    expect((await follow(linksOf(server), shortCode)).status).toBe(404);

    await redis.start();
    await until(
      async () => ((await (await fetch(`${server.linksUrl}/api/health`)).json()) as { redis: boolean }).redis,
    );
    expect((await follow(linksOf(server), shortCode)).status).toBe(404);
    const after = await createLink(linksOf(server));
    for (let request = 0; request < 10; request++) await follow(linksOf(server), after.shortCode);
    await until(async () => (await clicksOf(server, after.shortCode)) === 10);
    expect(await server.end('SIGTERM')).toBe(0);
    await redis.remove();
    await database.remove();
  });
});
