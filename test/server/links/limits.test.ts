// The two limits of the link service, and their headers.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { json, post } from '../../support/api.ts';
import { createLink, type LinkServer, startLinkServer } from '../../support/link-server.ts';

describe('the limit on creations', () => {
  let server: LinkServer;
  beforeAll(async () => {
    server = await startLinkServer({ settings: { LINKS_RATE_LIMIT_CREATE_PER_HOUR: '3' } });
  });
  afterAll(() => server.close());
  const make = (fields: Record<string, unknown> = {}) =>
    post(server, '/api/links', { url: 'https://example.com/', ...fields });

  test('counts links that were made, not requests that were refused, and says so in its headers', async () => {
    const first = await make();
    expect(first.status).toBe(201);
    expect(first.headers.get('x-ratelimit-limit')).toBe('3');
    expect(first.headers.get('x-ratelimit-remaining')).toBe('2');
    expect(first.headers.get('x-ratelimit-reset')).toBe(String((server.clock.now() + 3_600_000) / 1000));
    const refused = await make({ url: 'http://10.0.0.1' });
    expect([refused.status, refused.headers.get('x-ratelimit-remaining')]).toEqual([400, '2']);
    await make({ customCode: 'limited' });
    expect((await make({ customCode: 'limited' })).status).toBe(409);
    expect((await make()).status).toBe(201);
    const limited = await make();
    expect(limited.status).toBe(429);
    expect(Object.keys(await json(limited))).toEqual(['error']);
    expect(limited.headers.get('x-ratelimit-remaining')).toBe('0');
    expect(limited.headers.get('retry-after')).toBe('3600');
    const form = await fetch(server.url, {
      method: 'POST',
      body: new URLSearchParams({ url: 'https://example.com/' }),
    });
    expect(form.status).toBe(429);
    server.clock.advance(3_600_000);
    expect((await make()).status).toBe(201);
  });
});

describe('the limit on wrong passwords', () => {
  let server: LinkServer;
  beforeAll(async () => {
    server = await startLinkServer();
  });
  afterAll(() => server.close());
  const byApi = (shortCode: string, password: string) => post(server, '/api/verify', { shortCode, password });
  const byPage = (shortCode: string, password: string) =>
    fetch(`${server.url}/${shortCode}`, {
      method: 'POST',
      redirect: 'manual',
      body: new URLSearchParams({ password }),
    });

  test('is one window of ten for all links, API and page together, and holds for the right password too', async () => {
    const { shortCode } = await createLink(server, { password: 'right' });
    const other = await createLink(server, { password: 'right' });
    for (const _ of Array(3)) expect((await byApi(shortCode, 'right')).status).toBe(200);
    for (let attempt = 0; attempt < 10; attempt++) {
      const way = attempt % 2 ? byApi : byPage;
      expect((await way(attempt % 3 ? shortCode : other.shortCode, 'wrong')).status).toBe(401);
    }
    for (const way of [byApi, byPage]) {
      const refused = await way(other.shortCode, 'right');
      expect(refused.status).toBe(429);
      expect(Number(refused.headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
      expect(refused.headers.get('x-ratelimit-limit')).toBe('10');
    }
    server.clock.advance(5 * 60_000);
    expect((await byPage(other.shortCode, 'right')).status).toBe(302);
  });

  test('lets ten failures pass at most, whoever races', async () => {
    server.clock.advance(5 * 60_000);
    const { shortCode } = await createLink(server, { password: 'right' });
    const answers = await Promise.all(Array.from({ length: 25 }, () => byApi(shortCode, 'wrong')));
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10);
    expect(answers.filter(({ status }) => status === 429)).toHaveLength(15);
  });
});

test('an unknown code takes as long as a wrong password', async () => {
  const server = await startLinkServer({ settings: { LINKS_RATE_LIMIT_UNLOCK_FAILURES: '0' } });
  const { shortCode } = await createLink(server, { password: 'right' });
  const time = async (code: string) => {
    const startedAt = performance.now();
    await post(server, '/api/verify', { shortCode: code, password: 'wrong' });
    return performance.now() - startedAt;
  };
  await time(shortCode);
  await time('unknown');
  const rounds = [];
  for (let round = 0; round < 9; round++)
    rounds.push({ known: await time(shortCode), unknown: await time('unknown') });
  const median = (values: number[]) => values.sort((a, b) => a - b)[4] ?? 0;
  const [known, unknown] = [median(rounds.map((r) => r.known)), median(rounds.map((r) => r.unknown))];
  // An answer without Argon2 comes in a tenth of the time.
  expect(unknown).toBeGreaterThan(known / 2);
  expect(unknown).toBeLessThan(known * 2);
  await server.close();
});
