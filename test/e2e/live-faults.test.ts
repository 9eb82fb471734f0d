// What lives, when parts of it die: daemons, two of each, over a PostgreSQL and a Redis that can be killed.
import { afterAll, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { type Listener, listen } from '../support/event-stream.ts';
import { type Furnished, furnish, invite, sealed } from '../support/kanban-server.ts';
import { type PrivateService, startPostgres, startRedis } from '../support/private-services.ts';
import { answer, type Receiver, startReceiver } from '../support/receiver.ts';
import { connect, type RelayClient } from '../support/relay-server.ts';
import { runSvc } from '../support/run-svc.ts';
import { type ServedSvc, serveSvc, until } from '../support/serve.ts';
import { TEST_SECRET } from '../support/test-platform.ts';

const isPossible = inject('postgresBin') !== '' && inject('redisServer') !== '';

describe.skipIf(!isPossible)('when a part dies', () => {
  let postgres: PrivateService;
  let redis: PrivateService;
  let api: ServedSvc;
  let relays: [ServedSvc, ServedSvc];
  let schedulers: [ServedSvc, ServedSvc];
  let receiver: Receiver;
  let home: Furnished;
  let stream: Listener;
  beforeAll(async () => {
    [postgres, redis, receiver] = await Promise.all([
      startPostgres(inject('postgresBin')),
      startRedis(inject('redisServer')),
      startReceiver(),
    ]);
    const env = {
      DATABASE_URL: postgres.url,
      REDIS_URL: redis.url,
      SVC_SECRET: TEST_SECRET,
      KANBAN_RATE_LIMIT_REGISTER_PER_HOUR: '0',
      KANBAN_RATE_LIMIT_LOGIN_PER_MINUTE: '0',
      WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
    };
    expect((await runSvc(['migrate', 'up'], { env })).code).toBe(0);
    const start = (daemon: 'relay' | 'scheduler') => serveSvc({ env, daemon });
    api = await serveSvc({ env, daemon: 'api', args: ['--only', 'kanban'] });
    relays = [await start('relay'), await start('relay')];
    schedulers = [await start('scheduler'), await start('scheduler')];
  });
  beforeEach(async () => {
    home = await furnish({ url: api.kanbanUrl });
    stream = await listen({ url: api.kanbanUrl }, { boardId: home.boardId, cookie: home.owner.cookie });
    await until(() => stream.lastEventId() !== '');
  });
  afterAll(async () => {
    await Promise.all([api, ...relays, ...schedulers].map((served) => served.end('SIGTERM')));
    await Promise.all([receiver.close(), redis.remove(), postgres.remove()]);
  });

  const webhook = () =>
    home.owner.post(`/boards/${home.boardId}/webhooks`, { url: receiver.url, verbs: ['CARD_CREATED'] });
  const card = () => home.owner.post(`/columns/${home.columnId}/cards`, { encTitle: sealed('card') });
  const room = () => `board:${home.boardId}`;
  const enter = async (relay: ServedSvc, who = home.owner): Promise<RelayClient> => {
    const client = await connect({ url: api.kanbanUrl }, who, { url: relay.relayUrl });
    await client.join(room());
    return client;
  };
  const hear = async (listener: RelayClient, talker: RelayClient) => {
    const before = listener.frames.length;
    await until(async () => {
      talker.transmit(room(), 'hello');
      return listener.frames.length > before;
    });
  };

  test('Redis: streams go on from what is committed, relays find each other again', async () => {
    const [one, other] = [
      await enter(relays[0]),
      await enter(relays[1], await invite({ url: api.kanbanUrl }, home)),
    ];
    await hear(one, other);
    await redis.kill();
    await one.hears(({ type }) => type === 'peer-left');
    expect((await card()).status).toBe(201);
    await stream.arrived(1);
    await redis.start();
    await until(() => one.control.filter(({ type }) => type === 'peer-joined').length === 2);
    await Promise.all([hear(one, other), hear(other, one)]);
    await card();
    const ticks = await stream.arrived(2);
    expect((ticks[1]?.id ?? 0) - (ticks[0]?.id ?? 0)).toBe(1);
    for (const client of [one, other]) client.ws.terminate();
  });

  test('PostgreSQL: what is delivered and told goes on by itself', async () => {
    await webhook();
    receiver.react(answer(204));
    await postgres.kill();
    expect((await card()).status).toBe(503);
    await postgres.start();
    await until(async () => (await card()).status === 201);
    await stream.arrived(2);
    await until(() => receiver.received.length > 0);
  });

  test('a dispatcher in the middle of a request, and a relay: the others take over', async () => {
    await webhook();
    const [one, other] = [
      await enter(relays[0]),
      await enter(relays[1], await invite({ url: api.kanbanUrl }, home)),
    ];
    await until(() => one.control.some(({ type }) => type === 'peer-joined'));
    const before = receiver.received.length;
    receiver.react(() => undefined);
    await card();
    await until(() => receiver.received.length > before);
    const { stdout } = await runSvc(['jobs', 'history', 'dispatch-webhooks', '--json'], {
      env: { DATABASE_URL: postgres.url, REDIS_URL: redis.url, SVC_SECRET: TEST_SECRET },
    });
    const runs = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    const running = runs.find(({ status }) => status === 'running');
    const active = schedulers.find(({ child }) => running.holder.includes(`process ${child.pid} `));
    if (!active) throw new Error(`nobody runs it: ${stdout}`);
    receiver.react(answer(204));
    await Promise.all([active.end('SIGKILL'), relays[1].end('SIGKILL')]);
    // At least once: the request that was cut off comes again.
    await until(() => receiver.received.length > before + 1);
    expect(receiver.received.at(-1)?.headers['x-app-delivery-id']).toBe(
      receiver.received[before]?.headers['x-app-delivery-id'],
    );
    await one.hears(({ type }) => type === 'peer-left');
    other.ws.terminate();
    expect(one.closed()).toBeUndefined();
    one.ws.terminate();
  });
});
