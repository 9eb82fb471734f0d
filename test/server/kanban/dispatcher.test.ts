// What a dispatcher of webhooks makes of clocks that are wrong, endpoints that are dead, and things that change while it
// has deliveries in hand.
import { sql } from 'kysely';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import type { GuardedClient } from '../../../src/platform/outbound/guarded-client.ts';
import { fastestBackend } from '../../support/databases.ts';
import { takeOverDispatch } from '../../support/dispatcher.ts';
import {
  type Furnished,
  furnish,
  type Json,
  type KanbanServer,
  sealed,
  startKanbanServer,
} from '../../support/kanban-server.ts';
import { startRedis } from '../../support/private-services.ts';

const SECOND = 1_000;
const HOUR = 3_600 * SECOND;

type Request = Parameters<GuardedClient['request']>[0];

let server: KanbanServer;
let home: Furnished;
beforeAll(async () => {
  server = await startKanbanServer({
    backend: fastestBackend(),
    settings: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' },
  });
});
beforeEach(async () => {
  home = await furnish(server);
});
afterEach(async () => {
  vi.useRealTimers();
  await server.platform.database.deleteFrom('webhookDelivery').execute();
});
afterAll(() => server.close());

/** What the network makes of requests. */
const network = (answer: (request: Request) => Promise<number>): GuardedClient => ({
  request: async (request) => ({ status: await answer(request), headers: {} }),
  close: async () => undefined,
});
const failing = network(async () => 500);
const createHook = async (url = 'http://receiver.example/', verbs = ['CARD_UPDATED']): Promise<Json> => {
  const { status, body } = await home.owner.post(`/boards/${home.boardId}/webhooks`, { url, verbs });
  expect(status).toBe(201);
  return body;
};
const change = (title: string) => home.owner.patch(`/cards/${home.cardId}`, { encTitle: sealed(title) });

describe('a clock', () => {
  /** Seconds until the next attempt of the one delivery. */
  const wait = async (hook: Json): Promise<number> => {
    const [{ nextAttemptAt }] = (await home.owner.get(`/webhooks/${hook.id}/deliveries`)).body.items;
    return (Date.parse(nextAttemptAt) - server.clock.now()) / SECOND;
  };
  const dispatcher = () => takeOverDispatch(server.platform, failing);

  test.each([
    ['the dispatcher that was running', true],
    ['a dispatcher that begins afterwards', false],
  ])('that is set back makes nothing wait for longer: %s', async (_name, isTheSame) => {
    const hook = await createHook();
    await change('x');
    let one = await dispatcher();
    await one.drain();
    server.clock.advance(-10 * HOUR);
    if (!isTheSame) one = await dispatcher();
    for (const expected of [30, 90, 480]) {
      await one.drain();
      expect(await wait(hook)).toBe(expected);
      server.clock.advance(expected * SECOND);
    }
  });

  test('that was wrong for a while moves nothing that was planned before', async () => {
    const hook = await createHook();
    await change('x');
    const one = await dispatcher();
    await one.drain();
    for (const seconds of [30, 90, 480, 3_000]) {
      server.clock.advance(seconds * SECOND);
      await one.drain();
    }
    expect(await wait(hook)).toBe(18_000);
    server.clock.advance(HOUR);
    await one.drain();
    server.clock.advance(-HOUR);
    await one.drain();
    expect(await wait(hook)).toBe(18_000);
  });

  test('that is set forward makes what is due sooner, once', async () => {
    const hook = await createHook();
    await change('x');
    const one = await dispatcher();
    await one.drain();
    server.clock.advance(48 * HOUR);
    expect(await one.drain()).toMatchObject({ attempts: 2 });
    // The rest keeps its distances, instead of being spent at once.
    expect(await wait(hook)).toBe(90);
  });
});

test('however many wait for endpoints that do not answer, one that does hears at once', async () => {
  const { database } = server.platform;
  const live = await createHook('http://live.example/');
  const { id } = await createHook('http://dead.example/', ['CARD_DELETED']);
  await sql`INSERT INTO webhook SELECT (jsonb_populate_record(w, jsonb_build_object('id', 'c' || lpad(g::text, 24, '0')))).*
    FROM webhook w, generate_series(1, 700) g WHERE w.id = ${id}`.execute(database);
  await sql`
    INSERT INTO webhook_delivery (id, webhook_id, board_id, seq, verb, body, status, due_at, created_at)
    SELECT 'D' || lpad((row_number() OVER ())::text, 25, '0'), webhook.id, ${home.boardId}, g, 'CARD_DELETED', '{}',
      'pending', 'epoch', now() FROM webhook, generate_series(1, 40) g WHERE board_id = ${home.boardId} AND id <> ${live.id}`.execute(
    database,
  );
  const stop = new AbortController();
  const heard = Promise.withResolvers<void>();
  const dead = Promise.withResolvers<number>();
  let asked = 0;
  const allDeadAsked = Promise.withResolvers<void>();
  const running = takeOverDispatch(
    server.platform,
    network(async ({ url }) => {
      if (url.includes('live')) {
        heard.resolve();
        return 204;
      }
      if (++asked === 701) allDeadAsked.resolve();
      return dead.promise;
    }),
  ).then((dispatcher) => dispatcher.run(stop.signal));
  await allDeadAsked.promise;
  await change('x');
  await heard.promise;
  // Of each no more than the one it does not answer.
  expect(asked).toBe(701);
  dead.resolve(500);
  stop.abort();
  await running;
});

describe('what a dispatcher has in hand', () => {
  /** A dispatcher that runs over an endpoint which answers these of its requests only when it is told to. */
  async function running(held: readonly number[]) {
    const sent: string[] = [];
    const reached = Promise.withResolvers<void>();
    const mayAnswer = Promise.withResolvers<number>();
    const farewell = Promise.withResolvers<void>();
    const stop = new AbortController();
    const client = network(async ({ headers }) => {
      sent.push(String(headers['x-app-event']));
      if (sent.length === held.at(-1)) reached.resolve();
      if (sent.at(-1) === 'BOARD_DELETED') farewell.resolve();
      return held.includes(sent.length) ? mayAnswer.promise : 204;
    });
    const dispatcher = await takeOverDispatch(server.platform, client);
    const ended = dispatcher.run(stop.signal);
    return {
      sent,
      reached: reached.promise,
      farewell: farewell.promise,
      answer: mayAnswer.resolve,
      end: async () => {
        stop.abort();
        return ended;
      },
    };
  }

  test('of a board that is deleted ends, but for the news of that', async () => {
    await createHook('http://slow.example/', []);
    for (let number = 0; number < 10; number++) await change(`x${number}`);
    const dispatcher = await running([2, 3]);
    await dispatcher.reached;
    expect((await home.owner.delete(`/boards/${home.boardId}`)).status).toBe(204);
    await dispatcher.farewell;
    dispatcher.answer(204);
    await new Promise(setImmediate);
    await dispatcher.end();
    expect(dispatcher.sent).toHaveLength(4);
    expect(dispatcher.sent.at(-1)).toBe('BOARD_DELETED');
  });

  test('is read again before it is sent when it was read long ago', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    const hook = await createHook();
    for (let number = 0; number < 6; number++) await change(`x${number}`);
    const dispatcher = await running([2, 3]);
    await dispatcher.reached;
    // Nobody tells the dispatcher.
    await server.platform.database
      .updateTable('webhook')
      .set({ enabled: false })
      .where('id', '=', hook.id)
      .execute();
    vi.advanceTimersByTime(5_000);
    dispatcher.answer(204);
    await vi.waitFor(async () => {
      const { items } = (await home.owner.get(`/webhooks/${hook.id}/deliveries`)).body;
      const [pending, delivered] = [Array(3).fill('pending'), Array(3).fill('delivered')];
      expect(items.map(({ status }: Json) => status)).toEqual([...pending, ...delivered]);
    });
    await dispatcher.end();
    expect(dispatcher.sent).toHaveLength(3);
  });
});

test('a board has at most 100 webhooks and 100 automations; a change that makes thousands of deliveries is made', async () => {
  for (let number = 0; number < 100; number++) await createHook('http://receiver.example/', []);
  expect(
    await home.owner.post(`/boards/${home.boardId}/webhooks`, { url: 'http://one.too.many.example/' }),
  ).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
  const automation = {
    encName: sealed('a'),
    trigger: { verb: 'CARD_UPDATED' },
    actions: Array.from({ length: 20 }, (_, number) => ({
      type: 'SET_COMPLETED',
      completed: number % 2 === 0,
    })),
  };
  for (let number = 0; number < 100; number++) {
    const { status } = await home.owner.post(`/boards/${home.boardId}/automations`, automation);
    expect(status).toBe(201);
  }
  expect((await home.owner.post(`/boards/${home.boardId}/automations`, automation)).status).toBe(409);
  const { database } = server.platform;
  await database.deleteFrom('webhookDelivery').execute();
  expect((await change('x')).status).toBe(200);
  const { rows } = await sql<{ webhooks: number; entries: number; all: number }>`
    SELECT count(DISTINCT webhook_id) AS webhooks, count(DISTINCT seq) AS entries, count(*) AS all
    FROM webhook_delivery`.execute(database);
  expect(rows).toEqual([{ webhooks: 100, entries: 201, all: 20_100 }]);
});

test.skipIf(inject('redisServer') === '')(
  'a dispatcher that begins while Redis is away sends all the same, and listens when it is back',
  async () => {
    const redis = await startRedis(inject('redisServer'));
    const own = await startKanbanServer({
      backend: fastestBackend(),
      settings: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true', REDIS_URL: redis.url },
    });
    try {
      const { owner, boardId, cardId } = await furnish(own);
      await owner.post(`/boards/${boardId}/webhooks`, {
        url: 'http://receiver.example/',
        verbs: ['CARD_UPDATED'],
      });
      let sent = 0;
      const stop = new AbortController();
      await redis.kill();
      const edit = (title: string) => owner.patch(`/cards/${cardId}`, { encTitle: sealed(title) });
      await edit('without Redis');
      const client = network(async () => {
        sent++;
        return 204;
      });
      const running = (await takeOverDispatch(own.platform, client)).run(stop.signal);
      await vi.waitFor(() => expect(sent).toBe(1), { timeout: 10_000 });
      await redis.start();
      await vi.waitFor(() => expect(own.platform.ephemeral.delivering).toBe(true), { timeout: 10_000 });
      await edit('with Redis');
      await vi.waitFor(() => expect(sent).toBe(2), { timeout: 10_000 });
      stop.abort();
      await running;
    } finally {
      await own.close();
      await redis.remove();
    }
  },
);
