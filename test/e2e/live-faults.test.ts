// What lives, when parts of it die: daemons, two of each, over a PostgreSQL and a Redis that can be killed.
import { Redis } from 'ioredis';
import pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, inject, onTestFinished, test } from 'vitest';
import { type Listener, listen } from '../support/event-stream.ts';
import { call, type Furnished, furnish, invite, type Json, sealed } from '../support/kanban-server.ts';
import { type PrivateService, startPostgres, startRedis } from '../support/private-services.ts';
import { answer, type Receiver, startReceiver } from '../support/receiver.ts';
import { connect, type RelayClient } from '../support/relay-server.ts';
import { openRival, type Rival } from '../support/rival.ts';
import { runSvc } from '../support/run-svc.ts';
import { type ServedSvc, serveSvc, until } from '../support/serve.ts';
import { TEST_SECRET } from '../support/test-platform.ts';

const isPossible = inject('postgresBin') !== '' && inject('redisServer') !== '';

describe.skipIf(!isPossible)('when a part dies', () => {
  let postgres: PrivateService;
  let redis: PrivateService;
  let api: ServedSvc;
  let otherApi: ServedSvc;
  let relays: [ServedSvc, ServedSvc];
  let schedulers: [ServedSvc, ServedSvc];
  let receiver: Receiver;
  let rival: Rival;
  let client: pg.Client;
  let start: (daemon: 'api' | 'relay' | 'scheduler') => Promise<ServedSvc>;
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
    start = (daemon) => serveSvc({ env, daemon, args: daemon === 'api' ? ['--only', 'kanban'] : [] });
    [api, otherApi] = [await start('api'), await start('api')];
    relays = [await start('relay'), await start('relay')];
    schedulers = [await start('scheduler'), await start('scheduler')];
  });
  beforeEach(async () => {
    home = await furnish({ url: api.kanbanUrl });
    stream = await listen({ url: api.kanbanUrl }, { boardId: home.boardId, cookie: home.owner.cookie });
    await until(() => stream.lastEventId() !== '');
  });
  afterAll(async () => {
    await Promise.all([api, otherApi, ...relays, ...schedulers].map((served) => served.end('SIGTERM')));
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
  const rowsOf = async (text: string, values: unknown[] = []): Promise<Json[]> =>
    (await client.query(text, values)).rows;
  /** Opens connections for a test: of its own, since none outlives a PostgreSQL that is killed. */
  const interfere = async () => {
    const settings = { DATABASE_URL: postgres.url, SVC_DATA_DIR: '' };
    rival = await openRival({ settings, remove: async () => {} });
    client = new pg.Client({ connectionString: postgres.url });
    await client.connect();
    onTestFinished(async () => {
      await Promise.all([rival.close(), client.end()]);
    });
  };
  const waits = async (statement: string) =>
    (
      await rowsOf(`SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query ILIKE $1`, [
        `%${statement}%`,
      ])
    ).length > 0;
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

  test('an API between commit and publication: other streams still tell, and those that are resumed', async () => {
    await interfere();
    const published: string[] = [];
    const redisClient = new Redis(redis.url);
    onTestFinished(() => redisClient.disconnect());
    redisClient.on('pmessage', (_pattern, _channel, message) => published.push(message));
    await redisClient.psubscribe(`*board:${home.boardId}`);
    const { cookie } = home.owner;
    const cutOff = await listen({ url: otherApi.kanbanUrl }, { boardId: home.boardId, cookie });
    await until(() => cutOff.lastEventId() !== '');

    // The statement that commits is sent and waits; then the process stands still until it is killed.
    const lastSeq = async () =>
      Number((await rowsOf('SELECT last_seq FROM board WHERE id = $1', [home.boardId]))[0].last_seq);
    const before = await lastSeq();
    await rival.hold('SELECT FROM board WHERE id = $1 FOR UPDATE', [home.boardId]);
    const answer = call(
      { url: otherApi.kanbanUrl },
      {
        method: 'POST',
        path: `/columns/${home.columnId}/cards`,
        json: { encTitle: sealed('card') },
        headers: { cookie },
      },
    ).catch((error: unknown) => error);
    await until(() => waits('UPDATE board SET last_seq'));
    const { child } = otherApi;
    onTestFinished(() => {
      child.kill('SIGCONT');
    });
    child.kill('SIGSTOP');
    await rival.release();
    await until(async () => (await lastSeq()) === before + 1);
    await otherApi.end('SIGKILL');
    expect(await answer).toBeInstanceOf(Error);

    const [tick] = await stream.arrived(1);
    expect(tick).toMatchObject({ id: before + 1, data: { verb: 'CARD_CREATED' } });
    otherApi = await start('api');
    const resumed = await listen(
      { url: otherApi.kanbanUrl },
      { boardId: home.boardId, cookie, lastEventId: cutOff.lastEventId() },
    );
    await resumed.arrived(1);
    expect((await card()).status).toBe(201);
    const seqs = [before + 1, before + 2];
    for (const one of [stream, resumed])
      expect((await one.arrived(2)).map(({ id }: { id: number }) => id)).toEqual(seqs);
    expect(resumed.ticks[0]).toEqual(tick);
    // Nobody published the first: the streams found it.
    const wasPublished = (seq: number) =>
      published.some((message) => message.replaceAll('\\', '').includes(`"seq":${seq},`));
    await until(() => wasPublished(before + 2));
    expect(wasPublished(before + 1)).toBe(false);
    resumed.close();
  });

  test('a scheduler in the middle of a job of the schedule: the other runs it again', async () => {
    await interfere();
    const runs = () => rowsOf(`SELECT * FROM job_run WHERE job = 'purge-pastes' ORDER BY job_run_id`);
    const holderOf = (run: Json) =>
      schedulers.findIndex(({ child }) => run?.holder.includes(`process ${child.pid} `));
    const expired = () => rowsOf(`SELECT FROM paste WHERE paste_id = 'expired'`);
    await client.query(`
      INSERT INTO paste (paste_id, content, language, created_at, expires_at, burn_after_read, size_bytes,
        delete_token_hash)
      VALUES ('expired', '', 'plaintext', now(), now() - interval '1 day', false, 0, '')`);
    await rival.hold('LOCK TABLE paste IN SHARE ROW EXCLUSIVE MODE');
    // A run that was cut off long ago: the job need not wait for its time.
    await client.query(`
      INSERT INTO job_run (job, started_at, status, holder)
      VALUES ('purge-pastes', now() - interval '1 hour', 'running', 'a scheduler that was killed')`);
    await until(() => waits('delete from "paste"'));
    const killed = (await runs()).find((run) => run.status === 'running' && holderOf(run) >= 0);
    const index = holderOf(killed);
    await schedulers[index]?.end('SIGKILL');
    await rival.release();
    // The connection of the dead goes, and what it did not commit; then a lease's time passes.
    await client.query(`
      UPDATE lease SET expires_at = expires_at - interval '1 minute'
      WHERE name IN ('purge-pastes', 'job:purge-pastes')`);
    expect(await expired()).toHaveLength(1);
    await client.query(
      `UPDATE job_run SET started_at = started_at - interval '1 minute' WHERE job_run_id = $1`,
      [killed.job_run_id],
    );

    await until(async () => (await expired()).length === 0);
    const idOf = (run: Json) => run.job_run_id;
    const ended = async () => (await runs()).find((run) => idOf(run) === idOf(killed));
    expect(await ended()).toMatchObject({ status: 'failed', error: expect.stringContaining('died') });
    const successor = Number(/run (\d+) took over/.exec((await ended()).error)?.[1]);
    const done = async () => (await runs()).find((run) => Number(idOf(run)) === successor);
    await until(async () => (await done()).status !== 'running');
    expect(await done()).toMatchObject({ status: 'succeeded', result: { pastes: 1 } });
    expect(holderOf(await done())).toBe(1 - index);
    schedulers[index] = await start('scheduler');
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
