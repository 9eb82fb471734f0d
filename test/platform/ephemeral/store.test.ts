// One suite for both implementations of the ephemeral store.
import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createLocalBus, InProcessStore } from '../../../src/platform/ephemeral/in-process.ts';
import { connectRedis } from '../../../src/platform/ephemeral/redis.ts';
import type { EphemeralStore } from '../../../src/platform/ephemeral/store.ts';
import { createLog } from '../../../src/platform/log.ts';
import { hangRedis } from '../../support/hang-redis.ts';
import { startRedis } from '../../support/private-services.ts';
import { until } from '../../support/serve.ts';
import { TestClock } from '../../support/test-platform.ts';

// Other tests use the same Redis at the same time.
const installation = randomUUID();

interface Kind {
  name: string;
  /** Two users of one store, as two processes would be. */
  open(clock: TestClock): Promise<[EphemeralStore, EphemeralStore]>;
  /** Lets time pass for values. */
  passTime(clock: TestClock, ms: number): Promise<void>;
}

const kinds: Kind[] = [
  {
    name: 'in-process',
    open: async (clock) => {
      const store = new InProcessStore(clock, createLocalBus());
      return [store, store];
    },
    passTime: async (clock, ms) => clock.advance(ms),
  },
];
if (inject('redisUrl') !== '') {
  kinds.push({
    name: 'Redis',
    open: async () => {
      const log = await createLog({ level: 'silent' });
      const open = () => connectRedis(inject('redisUrl'), installation, log);
      return [await open(), await open()];
    },
    passTime: async (clock, ms) => {
      clock.advance(ms);
      const redis = new Redis(inject('redisUrl'));
      for (const key of await redis.keys(`svc:${installation}:*`)) {
        const left = await redis.pttl(key);
        if (left > 0) await redis.pexpire(key, Math.max(0, left - ms));
      }
      redis.disconnect();
    },
  });
}

describe.each(kinds)('the $name store', ({ open, passTime }) => {
  const clock = new TestClock();
  let one: EphemeralStore;
  let two: EphemeralStore;
  beforeAll(async () => {
    [one, two] = await open(clock);
  });
  afterAll(async () => {
    await one.close();
    await two.close();
  });
  const key = () => `test:${randomUUID()}`;

  describe('windows', () => {
    test('at no moment hold more than the limit, and never refuse while they hold less', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc.integer({ min: 1, max: 5 }),
          fc.array(fc.integer({ min: 0, max: 400 }), { maxLength: 40 }),
          async (limit, gaps) => {
            const windowKey = key();
            const taken: number[] = [];
            let now = 1_000_000;
            for (const [index, gap] of gaps.entries()) {
              now += gap;
              const inWindow = taken.filter((at) => at > now - 1_000).length;
              const { granted, used } = await one.reserve({
                key: windowKey,
                limit,
                windowMs: 1_000,
                now,
                member: String(index),
              });
              expect(granted).toBe(inWindow < limit);
              if (granted) taken.push(now);
              expect(used).toBe(Math.min(limit, inWindow + 1));
            }
          },
        ),
        { numRuns: 30 },
      );
    });

    test('never pass the limit when two processes race', async () => {
      const windowKey = key();
      const answers = await Promise.all(
        Array.from({ length: 60 }, (_, index) =>
          (index % 2 ? one : two).reserve({
            key: windowKey,
            limit: 7,
            windowMs: 1_000,
            now: 5_000,
            member: String(index),
          }),
        ),
      );
      expect(answers.filter(({ granted }) => granted)).toHaveLength(7);
    });

    test('say when the oldest entered, and give slots back', async () => {
      const windowKey = key();
      const reserve = (now: number, member: string) =>
        one.reserve({ key: windowKey, limit: 2, windowMs: 1_000, now, member });
      await reserve(100, 'a');
      await reserve(300, 'b');
      expect(await reserve(500, 'c')).toEqual({ granted: false, used: 2, oldest: 100 });
      await two.release(windowKey, 'a');
      expect(await reserve(600, 'd')).toEqual({ granted: true, used: 2, oldest: 300 });
    });
  });

  describe('values', () => {
    test('are there until their time is up', async () => {
      const name = key();
      await one.put(name, 'value', 30_000);
      expect(await two.get(name)).toBe('value');
      await passTime(clock, 29_000);
      expect(await two.get(name)).toBe('value');
      await passTime(clock, 1_001);
      expect(await two.get(name)).toBeUndefined();
      expect(await two.take(name)).toBeUndefined();
    });

    test('are taken by exactly one of those who race', async () => {
      const name = key();
      await one.put(name, 'once', 30_000);
      const takers = await Promise.all(
        Array.from({ length: 20 }, (_, index) => (index % 2 ? one : two).take(name)),
      );
      expect(takers.filter((value) => value === 'once')).toHaveLength(1);
      expect(takers.filter((value) => value === undefined)).toHaveLength(19);
    });
  });

  test('publications reach every subscriber, until it ends its subscription', async () => {
    const channel = key();
    const heard: string[] = [];
    const endFirst = await one.subscribe(channel, (message) => heard.push(`first ${message}`));
    const endSecond = await one.subscribe(channel, (message) => heard.push(`second ${message}`));
    await two.publish(channel, 'a');
    await until(() => heard.length === 2);
    await endFirst();
    await two.publish(channel, 'b');
    await until(() => heard.length === 3);
    await endSecond();
    expect(heard).toEqual(['first a', 'second a', 'second b']);
  });

  test('announcements have been heard by every subscriber once they resolve', async () => {
    const channel = key();
    const heard: string[] = [];
    const ends = [
      await one.subscribe(channel, (message) => heard.push(`one ${message}`)),
      await two.subscribe(channel, (message) => heard.push(`two ${message}`)),
    ];
    for (let round = 0; round < 20; round++) {
      await two.announce(channel, String(round));
      expect(heard.toSorted()).toEqual([`one ${round}`, `two ${round}`]);
      heard.length = 0;
    }
    await one.announce(key(), 'to nobody');
    expect([one.delivering, two.delivering]).toEqual([true, true]);
    expect([one.interruptions, two.interruptions]).toEqual([0, 0]);
    for (const end of ends) await end();
  });

  test('answers a ping', async () => {
    expect(await one.ping()).toBe(true);
  });
});

describe.runIf(inject('redisUrl') !== '')('a journal in Redis', () => {
  test('keeps entries in order, for all processes, until they are forgotten', async () => {
    const log = await createLog({ level: 'silent' });
    const stores = [
      await connectRedis(inject('redisUrl'), installation, log),
      await connectRedis(inject('redisUrl'), installation, log),
    ] as const;
    const [writer, same] = [stores[0].journal('shared'), stores[1].journal('shared')];
    expect(await same.readAfter('0-0', 10)).toEqual([]);

    for (const entry of ['a', 'b', 'c']) expect(await writer.append(entry)).toBe(true);
    const all = await same.readAfter('0-0', 10);
    expect(all.map(({ entry }) => entry)).toEqual(['a', 'b', 'c']);
    const second = all[1]?.position ?? '';
    expect((await same.readAfter(second, 10)).map(({ entry }) => entry)).toEqual(['c']);
    expect(await same.readAfter('0-0', 1)).toHaveLength(1);

    await same.forgetUpTo(second);
    expect((await same.readAfter('0-0', 10)).map(({ entry }) => entry)).toEqual(['c']);
    await Promise.all(stores.map((store) => store.close()));
  });

  test('begins anew when Redis was emptied: what is in it then is read and not forgotten, whatever its ids are', async () => {
    const log = await createLog({ level: 'silent' });
    const store = await connectRedis(inject('redisUrl'), installation, log);
    const journal = store.journal('emptied');
    await journal.append('before');
    const [before] = await journal.readAfter('0-0', 10);
    const redis = new Redis(inject('redisUrl'));
    await redis.del(`svc:${installation}:emptied`);
    redis.disconnect();

    await journal.append('after');
    // As if the clock of the new Redis were far behind.
    const ahead = `${before?.position.split('-')[0]}9-0`;
    expect((await journal.readAfter(ahead, 10)).map(({ entry }) => entry)).toEqual(['after']);
    await journal.forgetUpTo(ahead);
    const [after] = await journal.readAfter(ahead, 10);
    expect(after?.entry).toBe('after');
    await journal.forgetUpTo(after?.position ?? '');
    expect(await journal.readAfter('0-0', 10)).toEqual([]);
    await store.close();
  });
});

test('the in-process store forgets what has run out', async () => {
  const clock = new TestClock();
  const store = new InProcessStore(clock);
  await store.reserve({ key: 'w', limit: 5, windowMs: 1_000, now: clock.now(), member: 'm' });
  await store.put('v', 'x', 1_000);
  expect(store.size).toBe(2);
  clock.advance(1_001);
  store.sweep();
  expect(store.size).toBe(0);
  await store.close();
});

describe.skipIf(inject('redisServer') === '')('a Redis that hangs', () => {
  test('ends announcements in time, is noticed, and is trusted again once it answers', async () => {
    const redis = await startRedis(inject('redisServer'));
    const log = await createLog({ level: 'silent' });
    const store = await connectRedis(redis.url, installation, log);
    const heard: string[] = [];
    const end = await store.subscribe('news', (message) => heard.push(message));
    let resumed = 0;
    store.onResumed(() => resumed++);
    await store.announce('news', 'one');
    const goOn = await hangRedis(redis.url);
    try {
      await expect(store.announce('news', 'lost')).rejects.toThrow();
      // Whoever was not told has noticed by then.
      expect(store.delivering).toBe(false);
      await expect(end()).rejects.toThrow();
    } finally {
      goOn();
    }
    await until(() => store.delivering);
    expect(store.interruptions).toBeGreaterThan(0);
    expect(resumed).toBeGreaterThan(0);
    await store.subscribe('news', (message) => heard.push(message));
    await store.announce('news', 'two');
    expect(heard[0]).toBe('one');
    expect(heard.at(-1)).toBe('two');
    await store.close();
    await redis.remove();
  });
});

test.skipIf(inject('redisServer') === '')(
  'a Redis that may be away is waited for, and works once it is there',
  async () => {
    const redis = await startRedis(inject('redisServer'));
    await redis.kill();
    const store = await connectRedis(redis.url, installation, await createLog({ level: 'silent' }), true);
    const heard: string[] = [];
    const listen = () => store.subscribe('news', (message) => heard.push(message));
    await expect(store.put('key', 'value', 60_000)).rejects.toThrow();
    await expect(listen()).rejects.toThrow();
    await redis.start();
    await until(() =>
      listen().then(
        () => true,
        () => false,
      ),
    );
    await store.announce('news', 'one');
    expect([heard, store.delivering]).toEqual([['one'], true]);
    await store.close();
    await redis.remove();
  },
);

test('a Redis that is not there is refused with what to do', async () => {
  const log = await createLog({ level: 'silent' });
  await expect(connectRedis('redis://:hunter2@127.0.0.1:1', installation, log)).rejects.toMatchObject({
    code: 'REDIS_UNREACHABLE',
    exit: 69,
    message: expect.not.stringContaining('hunter2'),
  });
});
