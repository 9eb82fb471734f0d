// Clicks: counted once, whoever races, and every count agrees with the raw rows.
import { Redis } from 'ioredis';
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { encodeClicks } from '../../../src/services/links/clicks/click-batch.ts';
import { dropOldClicks, makeClickMonths } from '../../../src/services/links/clicks/click-months.ts';
import { drainBatch } from '../../../src/services/links/clicks/drain-journal.ts';
import { removeClickBatch } from '../../../src/services/links/clicks/remove-clicks.ts';
import { deleteLink } from '../../../src/services/links/delete-link.ts';
import { findLink } from '../../../src/services/links/find-link.ts';
import type { LinkService } from '../../../src/services/links/link-service.ts';
import { linkStatistics } from '../../../src/services/links/link-statistics.ts';
import { backends } from '../../support/databases.ts';
import {
  aClick,
  type LinkProcesses,
  makeLink,
  openLinkServices,
  ownRedis,
} from '../../support/link-service.ts';
import { until } from '../../support/serve.ts';

const DAY_MS = 86_400_000;

describe.each(backends())('clicks on $name', (backend) => {
  let processes: LinkProcesses;
  let service: LinkService;
  let other: LinkService;
  beforeAll(async () => {
    processes = await openLinkServices(backend, { count: backend.name === 'PostgreSQL' ? 2 : 1 });
    [service, other = service] = processes.services as [LinkService, LinkService?];
  });
  afterAll(() => processes.close());
  const now = () => processes.clock.now();
  const rawRows = async (linkKey: number) =>
    Number(
      (
        await service.platform.database
          .selectFrom('click')
          .select(({ fn }) => fn.countAll<number>().as('count'))
          .where('linkKey', '=', linkKey)
          .executeTakeFirstOrThrow()
      ).count,
    );

  test('are counted by day and by name, and kept as raw rows', async () => {
    const { linkKey, shortCode } = await makeLink(service);
    service.clicks.add(aClick(linkKey, now()));
    service.clicks.add(aClick(linkKey, now() - DAY_MS, { browser: 'Chrome', referrerHost: 'news.example' }));
    service.clicks.add(aClick(linkKey, now() - 2 * DAY_MS, { device: 'Mobile' }));

    const statistics = await linkStatistics(service, shortCode, 3);
    expect(statistics).toMatchObject({
      totalClicks: 3,
      timeline: [
        { date: '2026-01-29', clicks: 1 },
        { date: '2026-01-30', clicks: 1 },
        { date: '2026-01-31', clicks: 1 },
      ],
      browsers: [
        { name: 'Firefox', count: 2 },
        { name: 'Chrome', count: 1 },
      ],
      operatingSystems: [{ name: 'Linux', count: 3 }],
      devices: [
        { name: 'Desktop', count: 2 },
        { name: 'Mobile', count: 1 },
      ],
      topReferrers: [
        { host: 'Direct', count: 2 },
        { host: 'news.example', count: 1 },
      ],
    });
    expect(await rawRows(linkKey)).toBe(3);
  });

  test('are all counted when processes race for the same links', async () => {
    const links = [await makeLink(service), await makeLink(service)];
    const writers = [service, other].flatMap((one) =>
      links.flatMap(({ linkKey }) =>
        Array.from({ length: 50 }, (_, index) => {
          if (index % 10 === 0) return one.clicks.record(aClick(linkKey, now()));
          one.clicks.add(aClick(linkKey, now(), { referrerHost: `host${index % 7}.example` }));
          return index % 9 === 0 ? one.clicks.settle() : undefined;
        }),
      ),
    );
    await Promise.all(writers);
    await Promise.all([service.clicks.settle(), other.clicks.settle()]);
    for (const { linkKey, shortCode } of links) {
      expect((await findLink(service, shortCode)).clickCount).toBe(100);
      expect(await rawRows(linkKey)).toBe(100);
    }
  });

  test('of referrers without end stay bounded: the rarest are counted as Other, one that comes late and often is not', async () => {
    const { linkKey, shortCode } = await makeLink(service);
    const click = (referrerHost: string) => service.clicks.add(aClick(linkKey, now(), { referrerHost }));
    for (let index = 0; index < 1_050; index++) {
      click(`h${index}.example`);
      if (index % 300 === 0) await service.clicks.settle();
    }
    for (let index = 0; index < 5; index++) click('late.example');
    for (let index = 0; index < 300; index++) click(`spam${index}.example`);
    const { topReferrers, totalClicks } = await linkStatistics(service, shortCode, 1);
    expect(totalClicks).toBe(1_355);
    expect(topReferrers.slice(0, 2)).toEqual([
      { host: 'Other', count: 1_355 - 5 - 199 },
      { host: 'late.example', count: 5 },
    ]);
    const { names } = await service.platform.database
      .selectFrom('clickSummary')
      .select('names')
      .where('linkKey', '=', linkKey)
      .executeTakeFirstOrThrow();
    expect(Object.keys(names.referrerHost ?? {}).length).toBeLessThanOrEqual(251);
  });

  test('of a host named like a property of objects are counted like any other', async () => {
    const { linkKey, shortCode } = await makeLink(service);
    for (const referrerHost of ['__proto__', 'constructor', '__proto__', 'my_host.example']) {
      service.clicks.add(aClick(linkKey, now(), { referrerHost }));
      await service.clicks.settle();
    }
    expect((await linkStatistics(service, shortCode, 1)).topReferrers).toEqual([
      { host: '__proto__', count: 2 },
      { host: 'constructor', count: 1 },
      { host: 'my_host.example', count: 1 },
    ]);
  });

  test('of a link that is gone are left out, those of others in the same batch are not', async () => {
    const [gone, kept] = [await makeLink(service), await makeLink(service)];
    service.clicks.add(aClick(gone.linkKey, now()));
    await service.clicks.settle();
    service.clicks.add(aClick(gone.linkKey, now()));
    service.clicks.add(aClick(kept.linkKey, now()));
    await deleteLink(service, gone.shortCode, gone.deleteToken);
    expect((await findLink(service, kept.shortCode)).clickCount).toBe(1);
    expect(await service.clicks.record(aClick(gone.linkKey, now()))).toBe(false);
    expect(await rawRows(gone.linkKey)).toBe(0);
  });

  test('of a deleted link with many are unreachable at once and removed in batches', async () => {
    const { linkKey, shortCode, deleteToken } = await makeLink(service);
    await service.clicks.record(aClick(linkKey, now()));
    await sql`
      INSERT INTO click (link_key, clicked_at, browser, operating_system, device, referrer_host, address_hash)
      SELECT ${linkKey}, ${new Date(now())}, 'b', 'o', 'd', 'r', 'a' FROM generate_series(1, 25000)`.execute(
      service.platform.database,
    );
    await deleteLink(service, shortCode, deleteToken);
    await expect(findLink(service, shortCode)).rejects.toMatchObject({ code: 'LINK_NOT_FOUND' });
    // The process goes on by itself; a job may help it.
    await removeClickBatch(service.platform);
    await until(async () => (await rawRows(linkKey)) === 0);
    const left = await service.platform.database.selectFrom('linkRemoval').selectAll().execute();
    expect(left).toEqual([]);
  });

  test('lie in partitions by month, made ahead of time and dropped when all of one is too old', async () => {
    const { database } = service.platform;
    const tables = async () =>
      (
        await sql<{ name: string }>`SELECT relname AS name FROM pg_class WHERE relname LIKE 'click_20%'
          AND relkind = 'r' ORDER BY 1`.execute(database)
      ).rows.map(({ name }) => name);
    expect(await tables()).toEqual(['click_2026_01', 'click_2026_02', 'click_2026_03']);

    const { linkKey } = await makeLink(service);
    // The last of these months has no partition yet.
    for (const at of [
      '2026-05-02T00:00:00Z',
      '2020-05-05T00:00:00Z',
      '2026-01-02T00:00:00Z',
      '2026-02-02T00:00:00Z',
    ]) {
      await service.clicks.record(aClick(linkKey, Date.parse(at)));
    }
    const march = Date.parse('2026-03-02T00:00:00Z');
    await makeClickMonths(database, march);
    expect(await dropOldClicks(database, march, 29 * DAY_MS)).toEqual({ months: ['click_2026_01'], rows: 1 });
    expect(await rawRows(linkKey)).toBe(2);
    const { rows } = await sql<{ month: string }>`SELECT tableoid::regclass::text AS month FROM click
      WHERE link_key = ${linkKey} ORDER BY 1`.execute(database);
    expect(rows.map(({ month }) => month)).toEqual(['click_2026_02', 'click_2026_05']);
    expect(await tables()).toEqual(['click_2026_02', 'click_2026_03', 'click_2026_04', 'click_2026_05']);
  });
});

describe.runIf(inject('redisUrl') !== '')('the journal of clicks in Redis', () => {
  const postgres = backends().at(-1);
  let processes: LinkProcesses;
  beforeAll(async () => {
    if (!postgres) throw new Error('there is no back end');
    processes = await openLinkServices(postgres, {
      count: 2,
      settings: ownRedis('clicks through the journal'),
    });
  });
  afterAll(() => processes.close());

  test('is written down by whichever process, each click once', async () => {
    const [one, two] = processes.services as [LinkService, LinkService];
    const { linkKey, shortCode } = await makeLink(one);
    for (let round = 0; round < 30; round++) {
      for (const service of [one, two]) {
        for (let index = 0; index < 20; index++) service.clicks.add(aClick(linkKey, processes.clock.now()));
      }
      await Promise.all([one.clicks.settle(), two.clicks.settle()]);
    }
    expect((await findLink(two, shortCode)).clickCount).toBe(1_200);
  });

  test('counts what a process left that died before it forgot what it had written down', async () => {
    const [one] = processes.services as [LinkService];
    const { linkKey, shortCode } = await makeLink(one);
    const journal = one.platform.ephemeral.journal('link-clicks');
    if (!journal) throw new Error('there is no journal');
    await journal.append(encodeClicks([aClick(linkKey, processes.clock.now())]));
    const forgetful = {
      ...journal,
      forgetUpTo: () => Promise.reject(new Error('killed after the commit')),
    };
    await expect(drainBatch(one.platform.database, forgetful, true)).rejects.toThrow('killed');
    await drainBatch(one.platform.database, journal, true);
    expect((await findLink(one, shortCode)).clickCount).toBe(1);
  });

  test('is counted from its start when Redis was emptied and its clock is behind', async () => {
    const [one] = processes.services as [LinkService];
    const { database, secrets } = one.platform;
    const { linkKey, shortCode } = await makeLink(one);
    const click = async () => {
      one.clicks.add(aClick(linkKey, processes.clock.now()));
      await one.clicks.settle();
    };
    await click();
    const redis = new Redis(inject('redisUrl'));
    await redis.del(`svc:${secrets.installation}:link-clicks`);
    redis.disconnect();
    const ahead = sql<string>`regexp_replace(journal_position, '[0-9]+-[0-9]+$', '9999999999999-0')`;
    await database.updateTable('clickLedger').set({ journalPosition: ahead }).execute();
    for (let round = 0; round < 3; round++) await click();
    expect((await findLink(one, shortCode)).clickCount).toBe(4);
  });
});
