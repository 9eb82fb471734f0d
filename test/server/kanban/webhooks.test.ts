// Webhooks from the change to the receiver: what is written, sent, signed, tried again and given up.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { verifyWebhook } from '../../../src/client/index.ts';
import { createGuardedClient, type GuardedClient } from '../../../src/platform/outbound/guarded-client.ts';
import { fastestBackend } from '../../support/databases.ts';
import { takeOverDispatch } from '../../support/dispatcher.ts';
import {
  type Furnished,
  furnish,
  invite,
  type Json,
  type KanbanServer,
  sealed,
  startKanbanServer,
} from '../../support/kanban-server.ts';
import { answer, type Receiver, startReceiver } from '../../support/receiver.ts';

const SECOND = 1_000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;

// Every statement also runs embedded, in the tests that go through the table of routes (access.test.ts).
describe.each([fastestBackend()])('on $name', (backend) => {
  let server: KanbanServer;
  let client: GuardedClient;
  let home: Furnished;
  let receiver: Receiver;
  beforeAll(async () => {
    server = await startKanbanServer({
      backend,
      settings: { WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true', WEBHOOK_TIMEOUT: '1s' },
    });
    client = createGuardedClient({ allowPrivate: true });
  });
  beforeEach(async () => {
    [home, receiver] = [await furnish(server), await startReceiver()];
  });
  afterEach(async () => {
    await receiver.close();
    await server.platform.database.deleteFrom('webhookDelivery').execute();
  });
  afterAll(async () => {
    await client.close();
    await server.close();
  });

  const dispatcher = (random = 0, through = client) =>
    takeOverDispatch(server.platform, through, () => random);
  const dispatch = async () => (await dispatcher()).drain();
  const createHook = async (values: Record<string, unknown> = {}): Promise<Json> => {
    const { status, body } = await home.owner.post(`/boards/${home.boardId}/webhooks`, {
      url: `${receiver.url}/hook`,
      verbs: ['CARD_MOVED', 'CARD_UPDATED', 'BOARD_DELETED'],
      ...values,
    });
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body;
  };
  const change = (title: string) => home.owner.patch(`/cards/${home.cardId}`, { encTitle: sealed(title) });
  const deliveries = async ({ id }: { id: string }): Promise<Json[]> =>
    (await home.owner.get(`/webhooks/${id}/deliveries`)).body.items;

  test('a change is delivered with the six fields, its verb, its id, and a signature that holds', async () => {
    const hook = await createHook();
    const other = await home.owner.post(`/boards/${home.boardId}/columns`, { encName: sealed('done') });
    await home.owner.patch(`/cards/${home.cardId}/move`, { toColumnId: other.body.id });
    expect(await dispatch()).toMatchObject({ attempts: 1, delivered: 1 });
    const [{ headers, body, path }] = receiver.received as [Receiver['received'][0]];
    expect(path).toBe('/hook');
    expect(JSON.parse(body)).toEqual({
      verb: 'CARD_MOVED',
      boardId: home.boardId,
      cardId: home.cardId,
      actorId: home.owner.id,
      timestamp: new Date(server.clock.now()).toISOString(),
      metadata: { cardId: home.cardId, fromColumnId: home.columnId, toColumnId: other.body.id },
    });
    const [delivery] = await deliveries(hook);
    expect(delivery).toEqual({
      id: expect.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/),
      webhookId: hook.id,
      verb: 'CARD_MOVED',
      status: 'delivered',
      attempts: [
        { at: new Date(server.clock.now()).toISOString(), status: 204, durationMs: expect.any(Number) },
      ],
      nextAttemptAt: null,
      body,
      createdAt: new Date(server.clock.now()).toISOString(),
    });
    expect(headers).toMatchObject({
      'content-type': 'application/json',
      'x-app-event': 'CARD_MOVED',
      'x-app-delivery-id': delivery.id,
    });
    const signature = String(headers['x-app-signature']);
    const now = server.clock.now();
    expect(await verifyWebhook({ body, signature, secret: hook.secret, now })).toBe(true);
    expect(await verifyWebhook({ body: `${body} `, signature, secret: hook.secret, now })).toBe(false);
    expect(await verifyWebhook({ body, signature, secret: hook.secret, now: now + 6 * MINUTE })).toBe(false);
    expect(await dispatch()).toMatchObject({ attempts: 0 });
  });

  test('only verbs that were asked for are delivered, all of them to a webhook without any', async () => {
    await createHook({ verbs: ['CARD_COMPLETED'] });
    const all = await createHook({ verbs: [], url: `${receiver.url}/all` });
    await change('new');
    await dispatch();
    expect(receiver.received.map(({ path, headers }) => [path, headers['x-app-event']])).toEqual([
      ['/all', 'WEBHOOK_CREATED'],
      ['/all', 'CARD_UPDATED'],
    ]);
    expect((await deliveries(all)).map(({ verb }) => verb)).toEqual(['CARD_UPDATED', 'WEBHOOK_CREATED']);
  });

  test('first attempts start in the order of the changes, eight at most at once', async () => {
    const hook = await createHook();
    for (let number = 0; number < 30; number++) await change(`title ${number}`);
    const started: string[] = [];
    const recording: GuardedClient = {
      ...client,
      request: (request) => {
        started.push(request.headers['x-app-delivery-id'] ?? '');
        return client.request(request);
      },
    };
    receiver.react((response) => setImmediate(() => response.writeHead(200).end()));
    await (await dispatcher(0, recording)).drain();
    expect(started).toHaveLength(30);
    expect(started).toEqual((await deliveries(hook)).map(({ id }) => id).reverse());
    expect(receiver.mostAtOnce()).toBeGreaterThan(1);
    expect(receiver.mostAtOnce()).toBeLessThanOrEqual(8);
  });

  test('what fails is tried again by the schedule, and is dead after the last time', async () => {
    const hook = await createHook();
    receiver.react(answer(503));
    await change('x');
    const offsets = [30 * SECOND, 2 * MINUTE, 10 * MINUTE, HOUR, 6 * HOUR, 24 * HOUR];
    await dispatch();
    let passed = 0;
    for (const [index, offset] of offsets.entries()) {
      const [pending] = await deliveries(hook);
      expect(pending).toMatchObject({ status: 'pending', attempts: { length: index + 1 } });
      expect(Date.parse(pending.nextAttemptAt) - server.clock.now()).toBe(offset - passed);
      server.clock.advance(offset - passed - 1);
      expect(await dispatch()).toMatchObject({ attempts: 0 });
      server.clock.advance(1);
      passed = offset;
      expect(await dispatch()).toMatchObject({ attempts: 1 });
    }
    const [dead] = await deliveries(hook);
    expect(dead).toMatchObject({ status: 'dead', nextAttemptAt: null, attempts: { length: 7 } });
    expect(dead.attempts[0]).toMatchObject({ status: 503 });
    server.clock.advance(48 * HOUR);
    expect(await dispatch()).toMatchObject({ attempts: 0 });
  });

  test('what waits longer has at most a tenth more', async () => {
    const hook = await createHook();
    receiver.react(answer(500));
    await change('x');
    await (await dispatcher(1)).drain();
    const [{ nextAttemptAt }] = await deliveries(hook);
    expect(Date.parse(nextAttemptAt) - server.clock.now()).toBe(33 * SECOND);
  });

  test('the receiver may ask for another moment, up to the next of the schedule', async () => {
    const hook = await createHook();
    receiver.react(answer(429, { 'retry-after': '7' }));
    await change('x');
    await dispatch();
    const waits = async () => Date.parse((await deliveries(hook))[0].nextAttemptAt) - server.clock.now();
    expect(await waits()).toBe(7 * SECOND);
    server.clock.advance(7 * SECOND);
    receiver.react(answer(503, { 'retry-after': '3600' }));
    await dispatch();
    expect(await waits()).toBe(23 * SECOND);
  });

  test.each([
    [400, 'failed'],
    [404, 'failed'],
    [302, 'failed'],
    [410, 'failed'],
    [408, 'pending'],
    [425, 'pending'],
    [500, 'pending'],
  ])('an answer of %i leaves it %s', async (status, expected) => {
    const hook = await createHook();
    receiver.react(answer(status, { location: `${receiver.url}/elsewhere` }));
    await change('x');
    await dispatch();
    expect((await deliveries(hook))[0]).toMatchObject({ status: expected, attempts: [{ status }] });
    expect(receiver.received.map(({ path }) => path)).toEqual(['/hook']);
  });

  test('what nobody answers, answers a byte at a time, or never ends, costs its time and no more', async () => {
    const hook = await createHook();
    receiver.react(() => undefined);
    await change('never');
    await dispatch();
    expect((await deliveries(hook))[0]).toMatchObject({
      status: 'pending',
      attempts: [{ error: 'no complete answer within 1 s' }],
    });
    server.clock.advance(30 * SECOND);
    receiver.react((response) => {
      const text = 'HTTP/1.1 200 OK\r\n';
      let sent = 0;
      const timer = setInterval(() => response.socket?.write(text[sent++ % text.length] ?? ''), 50);
      response.socket?.on('close', () => clearInterval(timer));
    });
    await dispatch();
    expect((await deliveries(hook))[0].attempts[1].error).toBe('no complete answer within 1 s');
    server.clock.advance(2 * MINUTE);
    let written = 0;
    receiver.react((response) => {
      const more = () => {
        while (!response.destroyed && response.write(Buffer.alloc(65_536))) written += 65_536;
        if (!response.destroyed) response.once('drain', more);
      };
      more();
    });
    await dispatch();
    expect((await deliveries(hook))[0]).toMatchObject({ status: 'delivered' });
    expect(written).toBeLessThan(64 * 1024 * 1024);
  });

  test('deliveries can be re-queued, with the same id and the whole schedule, but not while they are pending', async () => {
    const hook = await createHook();
    receiver.react(answer(400));
    await change('x');
    const [{ id }] = await deliveries(hook);
    const member = await invite(server, home);
    expect((await home.owner.post(`/webhooks/deliveries/${id}/requeue`)).status).toBe(409);
    await dispatch();
    expect((await member.post(`/webhooks/deliveries/${id}/requeue`)).status).toBe(403);
    const requeued = await home.owner.post(`/webhooks/deliveries/${id}/requeue`);
    expect(requeued).toMatchObject({ status: 200, body: { id, status: 'pending', attempts: { length: 1 } } });
    receiver.react(answer(200));
    await dispatch();
    expect((await deliveries(hook))[0]).toMatchObject({ id, status: 'delivered', attempts: { length: 2 } });
    expect((await home.owner.post(`/webhooks/deliveries/${id}/requeue`)).status).toBe(200);
  });

  test('deliveries of a disabled webhook wait, those of a deleted one end', async () => {
    const hook = await createHook();
    await change('x');
    await home.owner.patch(`/webhooks/${hook.id}`, { enabled: false });
    await change('y');
    expect(await dispatch()).toMatchObject({ attempts: 0 });
    await home.owner.patch(`/webhooks/${hook.id}`, { enabled: true });
    expect(await dispatch()).toMatchObject({ delivered: 2 });
    await change('z');
    await home.owner.delete(`/webhooks/${hook.id}`);
    expect(await dispatch()).toMatchObject({ attempts: 0 });
  });

  test('that a board is deleted outlives board and webhook', async () => {
    const hook = await createHook();
    await change('ends with the webhook');
    await home.owner.delete(`/boards/${home.boardId}`);
    receiver.react(answer(500));
    await dispatch();
    server.clock.advance(30 * SECOND);
    receiver.react(answer(200));
    expect(await dispatch()).toMatchObject({ delivered: 1 });
    const { body, headers } = receiver.received.at(-1) as Receiver['received'][0];
    expect(JSON.parse(body)).toEqual({
      verb: 'BOARD_DELETED',
      boardId: home.boardId,
      cardId: null,
      actorId: home.owner.id,
      timestamp: expect.any(String),
      metadata: { boardId: home.boardId },
    });
    const signature = String(headers['x-app-signature']);
    expect(await verifyWebhook({ body, signature, secret: hook.secret, now: server.clock.now() })).toBe(true);
  });

  test('the boards of a deleted workspace say goodbye too', async () => {
    await createHook();
    await home.owner.delete(`/workspaces/${home.workspaceId}`);
    expect(await dispatch()).toMatchObject({ delivered: 1 });
    expect(receiver.received[0]?.headers['x-app-event']).toBe('BOARD_DELETED');
  });

  test('for a day after a rotation both secrets sign', async () => {
    const hook = await createHook();
    const { body: rotated } = await home.owner.post(`/webhooks/${hook.id}/rotate-secret`);
    const holds = async (secret: string) => {
      await change(`title ${server.clock.now()}`);
      await dispatch();
      const { body, headers } = receiver.received.at(-1) as Receiver['received'][0];
      return verifyWebhook({
        body,
        signature: String(headers['x-app-signature']),
        secret,
        now: server.clock.now(),
      });
    };
    expect(rotated.secret).not.toBe(hook.secret);
    expect(await holds(rotated.secret)).toBe(true);
    expect(await holds(hook.secret)).toBe(true);
    server.clock.advance(24 * HOUR + 1);
    expect(await holds(rotated.secret)).toBe(true);
    expect(await holds(hook.secret)).toBe(false);
  });

  test('a change that is rolled back tells nobody', async () => {
    await createHook();
    const before = await server.platform.database.selectFrom('webhookDelivery').select('id').execute();
    const outside = await furnish(server);
    const moved = await home.owner.patch(`/cards/${home.cardId}/move`, { toColumnId: outside.columnId });
    expect(moved.status).toBe(400);
    const after = await server.platform.database.selectFrom('webhookDelivery').select('id').execute();
    expect(after).toEqual(before);
  });

  test('what a dispatcher had in hand when it died, the next one sends; what the first still writes counts for nothing', async () => {
    const hook = await createHook();
    await change('x');
    const held = Promise.withResolvers<void>();
    const reached = Promise.withResolvers<void>();
    receiver.react((response) => {
      reached.resolve();
      held.promise.then(() => response.writeHead(500).end());
    });
    const first = (await dispatcher()).drain();
    await reached.promise;
    receiver.react(answer(200));
    // Another one has its lease, though it does not know.
    expect(await dispatch()).toMatchObject({ delivered: 1 });
    held.resolve();
    await first;
    expect((await deliveries(hook))[0]).toMatchObject({ status: 'delivered', attempts: { length: 1 } });
    expect(receiver.received).toHaveLength(2);
  });

  test('running, it sends what comes in and stops when it is told to', async () => {
    const hook = await createHook();
    const stop = new AbortController();
    const arrived = Promise.withResolvers<void>();
    receiver.react((response) => {
      response.writeHead(200).end();
      arrived.resolve();
    });
    const running = (await dispatcher()).run(stop.signal);
    await change('x');
    await arrived.promise;
    stop.abort();
    expect(await running).toMatchObject({ delivered: 1 });
    expect((await deliveries(hook))[0]).toMatchObject({ status: 'delivered' });
  });
});
