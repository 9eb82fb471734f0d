import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { aPaste, create, json, post } from '../../support/api.ts';
import { backends, fastestBackend } from '../../support/databases.ts';
import { type PasteServer, startPasteServer } from '../../support/paste-server.ts';

const HOUR_MS = 3_600_000;

describe('the limit on creations', () => {
  let server: PasteServer;
  beforeEach(async () => {
    // A database for each test: the one that is made fastest.
    server = await startPasteServer({
      backend: fastestBackend(),
      settings: { PASTE_RATE_LIMIT_CREATE_PER_HOUR: '3' },
    });
  });
  afterEach(() => server.close());
  const attempt = (fields: Record<string, unknown> = {}) => post(server, '/api/pastes', aPaste(fields));
  const remaining = (response: Response) => response.headers.get('x-ratelimit-remaining');

  test('lets three through, then answers 429 with the time until a slot frees', async () => {
    expect(remaining(await attempt())).toBe('2');
    server.clock.advance(60_000);
    expect(remaining(await attempt())).toBe('1');
    expect(remaining(await attempt())).toBe('0');
    const refused = await attempt();
    expect(refused.status).toBe(429);
    expect(refused.headers.get('retry-after')).toBe(String(59 * 60));
    expect(refused.headers.get('x-ratelimit-limit')).toBe('3');
    expect(remaining(refused)).toBe('0');
    expect(refused.headers.get('x-ratelimit-reset')).toBe(
      String((server.clock.now() - 60_000 + HOUR_MS) / 1000),
    );
    expect(await refused.json()).toEqual({ error: expect.any(String) });
  });

  test('is a sliding window: each slot frees an hour after it was taken', async () => {
    for (const _ of [1, 2, 3]) {
      await create(server);
      server.clock.advance(60_000);
    }
    server.clock.advance(HOUR_MS - 3 * 60_000 - 1);
    expect((await attempt()).status).toBe(429);
    server.clock.advance(1);
    expect((await attempt()).status).toBe(201);
    expect((await attempt()).status).toBe(429);
  });

  test('only created pastes use a slot', async () => {
    for (const _ of Array(10)) expect((await attempt({ content: '' })).status).toBe(400);
    await create(server, { customId: 'the-one' });
    for (const _ of Array(10)) expect((await attempt({ customId: 'the-one' })).status).toBe(409);
    expect(remaining(await attempt())).toBe('1');
  });

  test('holds under racing requests', async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => attempt()));
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(3);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(17);
  });

  test('the form of the page shares it', async () => {
    for (const _ of [1, 2, 3]) await create(server);
    const form = await fetch(server.url, {
      method: 'POST',
      body: new URLSearchParams({ content: 'x', expiresIn: '1h' }),
    });
    expect(form.status).toBe(429);
  });

  test('X-Forwarded-For is not believed from a client', async () => {
    const forged = (address: string) => post(server, '/api/pastes', aPaste(), { 'x-forwarded-for': address });
    for (const address of ['10.0.0.1', '10.0.0.2', '10.0.0.3'])
      expect((await forged(address)).status).toBe(201);
    expect((await forged('10.0.0.4')).status).toBe(429);
  });
});

test('behind one trusted proxy each client has its own limit', async () => {
  await using server = disposable(
    await startPasteServer({ settings: { PASTE_RATE_LIMIT_CREATE_PER_HOUR: '1', TRUST_PROXY: '1' } }),
  );
  const from = async (address: string) =>
    (await post(server, '/api/pastes', aPaste(), { 'x-forwarded-for': address })).status;
  expect(await from('203.0.113.1')).toBe(201);
  expect(await from('203.0.113.1')).toBe(429);
  expect(await from('203.0.113.2')).toBe(201);
  // What the client itself put in front of its address is not believed.
  expect(await from('198.51.100.9, 203.0.113.2')).toBe(429);
  // An IPv6 client is its /64.
  expect(await from('2001:db8:0:1::1')).toBe(201);
  expect(await from('2001:db8:0:1:ffff::2')).toBe(429);
  expect(await from('2001:db8:0:2::1')).toBe(201);
  // An IPv4-mapped address is that IPv4 address.
  expect(await from('::ffff:203.0.113.1')).toBe(429);
});

test('a limit of 0 is none, and says nothing in headers', async () => {
  await using server = disposable(await startPasteServer());
  const response = await post(server, '/api/pastes', aPaste());
  expect(response.status).toBe(201);
  expect(response.headers.get('x-ratelimit-limit')).toBeNull();
});

describe('the limit on wrong passwords', () => {
  let server: PasteServer;
  beforeAll(async () => {
    server = await startPasteServer();
  });
  afterAll(() => server.close());
  const byApi = (pasteId: string, password: string) =>
    post(server, `/api/pastes/${pasteId}/verify`, { password });
  const byRaw = (pasteId: string, password: string) =>
    fetch(`${server.url}/raw/${pasteId}`, { headers: { 'x-paste-password': password } });
  const byPage = (pasteId: string, password: string) =>
    fetch(`${server.url}/${pasteId}`, { method: 'POST', body: new URLSearchParams({ password }) });

  test('is one window of ten for API, raw form and page, and holds for the right password too', async () => {
    const { pasteId } = await create(server, { password: 'right' });
    const ways = [byApi, byRaw, byPage];
    for (let attempt = 0; attempt < 10; attempt++) {
      expect((await ways[attempt % 3]?.(pasteId, 'wrong'))?.status).toBe(401);
    }
    for (const way of ways) {
      const refused = await way(pasteId, 'right');
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    }
    server.clock.advance(5 * 60_000);
    expect((await byApi(pasteId, 'right')).status).toBe(200);
  });

  test('a success uses no slot, and another paste has its own window', async () => {
    const { pasteId } = await create(server, { password: 'right' });
    const other = await create(server, { password: 'right' });
    for (const _ of Array(12)) expect((await byApi(pasteId, 'right')).status).toBe(200);
    for (const _ of Array(10)) await byApi(pasteId, 'wrong');
    expect((await byApi(pasteId, 'wrong')).status).toBe(429);
    expect((await byApi(other.pasteId, 'right')).status).toBe(200);
  });

  test('ten failures pass at most, whoever races', async () => {
    const { pasteId } = await create(server, { password: 'right' });
    const answers = await Promise.all(Array.from({ length: 30 }, () => byApi(pasteId, 'wrong')));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(20);
  });
});

test.skipIf(backends().length < 2)(
  'two servers over one PostgreSQL and one Redis share limits and counts',
  async () => {
    const { inject } = await import('vitest');
    const { createPostgresDatabase } = await import('../../support/databases.ts');
    const database = await createPostgresDatabase(inject('postgresUrl'));
    const settings = {
      PASTE_RATE_LIMIT_CREATE_PER_HOUR: '5',
      REDIS_URL: inject('redisUrl'),
      SVC_SECRET: `${Math.random()}`.repeat(4),
    };
    const shared = {
      name: 'PostgreSQL' as const,
      create: async () => ({ ...database, remove: async () => {} }),
    };
    await using one = disposable(await startPasteServer({ backend: shared, settings }));
    await using two = disposable(await startPasteServer({ backend: shared, settings }));
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, index) => post(index % 2 ? one : two, '/api/pastes', aPaste())),
    );
    expect(answers.filter(({ status }) => status === 201)).toHaveLength(5);

    const created = answers.find(({ status }) => status === 201);
    const { pasteId } = await json(created ?? Response.error());
    const reads = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        json(fetch(`${(index % 2 ? one : two).url}/api/pastes/${String(pasteId)}`)),
      ),
    );
    expect(reads.map(({ viewCount }) => Number(viewCount)).sort((a, b) => a - b)).toEqual(
      Array.from({ length: 60 }, (_, index) => index + 1),
    );
    await one.close();
    await two.close();
    await database.remove();
  },
);

function disposable(server: PasteServer): PasteServer & AsyncDisposable {
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= server.close());
  return { ...server, close, [Symbol.asyncDispose]: close };
}
