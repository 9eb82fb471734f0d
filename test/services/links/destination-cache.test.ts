// Destinations in memory, while what they stand on does not answer.
import { setTimeout as pause } from 'node:timers/promises';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { isDatabaseUnavailable } from '../../../src/platform/database/unavailable.ts';
import { deleteLink } from '../../../src/services/links/delete-link.ts';
import { findLink } from '../../../src/services/links/find-link.ts';
import type { LinkService } from '../../../src/services/links/link-service.ts';
import { openLinkService } from '../../../src/services/links/link-service.ts';
import { linkStatistics } from '../../../src/services/links/link-statistics.ts';
import { serviceStatistics } from '../../../src/services/links/service-statistics.ts';
import { backends } from '../../support/databases.ts';
import { cutPublications, hangRedis } from '../../support/hang-redis.ts';
import { aClick, type LinkProcesses, makeLink, openLinkServices } from '../../support/link-service.ts';
import { type PrivateService, startPostgres, startRedis } from '../../support/private-services.ts';
import { openTestPlatform } from '../../support/test-platform.ts';

const postgres = backends().find(({ name }) => name === 'PostgreSQL');

describe.skipIf(!postgres)('a database that hangs', () => {
  let processes: LinkProcesses;
  let service: LinkService;
  beforeAll(async () => {
    if (!postgres) throw new Error('there is no PostgreSQL');
    processes = await openLinkServices(postgres);
    [service] = processes.services as [LinkService];
  });
  afterAll(() => processes.close());

  /** Runs work while nobody can read links. */
  const whileLocked = (work: () => Promise<void>) =>
    service.platform.database.transaction().execute(async (transaction) => {
      await sql`LOCK TABLE link IN ACCESS EXCLUSIVE MODE`.execute(transaction);
      await work();
    });

  test('holds up no link that is in memory, though what is there is old', async () => {
    const { shortCode } = await makeLink(service, 'https://example.com/old');
    await service.destinations.find(shortCode);
    processes.clock.advance(61_000);
    expect(service.destinations.peek(shortCode)).toBeUndefined();
    await whileLocked(async () => {
      const startedAt = performance.now();
      const find = () => service.destinations.find(shortCode);
      expect(await find()).toMatchObject({ location: 'https://example.com/old' });
      expect(performance.now() - startedAt).toBeLessThan(5_000);
      const again = performance.now();
      for (let request = 0; request < 50; request++) expect(await find()).toBeDefined();
      // The lookup is known to take long: nobody waits for it a second time.
      expect(performance.now() - again).toBeLessThan(5_000);
    });
    await expect.poll(() => service.destinations.peek(shortCode)).toBeDefined();
  });

  test('brings no link back that is announced to be gone meanwhile', async () => {
    const { shortCode } = await makeLink(service);
    await service.destinations.find(shortCode);
    processes.clock.advance(61_000);
    let found: Promise<unknown> | undefined;
    await whileLocked(async () => {
      found = service.destinations.find(shortCode);
      await service.platform.ephemeral.announce('link-gone', shortCode);
      expect(await Promise.race([found, pause(500, 'asks the database')])).toBe('asks the database');
    });
    await found;
  });
});

describe.skipIf(!postgres || inject('redisServer') === '')('a Redis that hangs', () => {
  test('stops no deletion and no reading, and leaves no deleted link in memory', async () => {
    if (!postgres) throw new Error('there is no PostgreSQL');
    const redis: PrivateService = await startRedis(inject('redisServer'));
    const processes = await openLinkServices(postgres, { count: 2, settings: { REDIS_URL: redis.url } });
    const [one, two] = processes.services as [LinkService, LinkService];
    const { shortCode, deleteToken } = await makeLink(one);
    const kept = await makeLink(one);
    for (const service of [one, two]) await service.destinations.find(shortCode);
    const goOn = await hangRedis(redis.url);
    try {
      one.clicks.add(aClick(kept.linkKey, processes.clock.now()));
      expect(await findLink(one, kept.shortCode)).toMatchObject({ shortCode: kept.shortCode });
      expect(await linkStatistics(two, kept.shortCode, 1)).toMatchObject({ shortCode: kept.shortCode });
      expect((await serviceStatistics(two)).totalLinks).toBe(2);
      await deleteLink(one, shortCode, deleteToken);
      for (const service of [one, two]) {
        expect(service.destinations.peek(shortCode)).toBeUndefined();
        expect(await service.destinations.find(shortCode)).toBeUndefined();
      }
    } finally {
      goOn();
    }
    await processes.close();
    await redis.remove();
  });

  test('a Redis that loses its listeners for a moment leaves nothing in memory that may be gone', async () => {
    if (!postgres) throw new Error('there is no PostgreSQL');
    const redis = await startRedis(inject('redisServer'));
    const { services, close } = await openLinkServices(postgres, {
      count: 1,
      settings: { REDIS_URL: redis.url },
    });
    const [service] = services as [LinkService];
    const { shortCode } = await makeLink(service);
    await service.destinations.find(shortCode);
    expect(service.destinations.peek(shortCode)).toBeDefined();
    await cutPublications(redis.url);
    await expect.poll(() => service.destinations.peek(shortCode)).toBeUndefined();
    await service.destinations.find(shortCode);
    await expect.poll(() => service.platform.ephemeral.delivering).toBe(true);
    await service.destinations.find(shortCode);
    expect(service.destinations.peek(shortCode)).toBeDefined();
    await close();
    await redis.remove();
  });

  test.skipIf(inject('postgresBin') === '')(
    'a PostgreSQL that is away is what readers are told of',
    async () => {
      const redis = await startRedis(inject('redisServer'));
      const database = await startPostgres(inject('postgresBin'));
      const settings = { DATABASE_URL: database.url, SVC_DATA_DIR: '/nonexistent', REDIS_URL: redis.url };
      const { platform } = await openTestPlatform({ database: { settings, remove: async () => {} } });
      const service = await openLinkService(platform);
      const { shortCode, linkKey } = await makeLink(service);
      await database.kill();
      service.clicks.add(aClick(linkKey, 0));
      for (const read of [
        () => findLink(service, shortCode),
        () => linkStatistics(service, shortCode, 1),
        () => serviceStatistics(service),
      ]) {
        const error: unknown = await read().catch((caught: unknown) => caught);
        expect(isDatabaseUnavailable(error), String(error)).toBe(true);
      }
      await service.close();
      await platform.close();
      await database.remove();
      await redis.remove();
    },
  );
});
