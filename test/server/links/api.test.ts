import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { READABLE_ALPHABET } from '../../../src/platform/ids.ts';
import { json, post } from '../../support/api.ts';
import { backends } from '../../support/databases.ts';
import { createLink, follow, type LinkServer, startLinkServer } from '../../support/link-server.ts';

const HOUR_MS = 3_600_000;

describe.each(backends())('the link API on $name', (backend) => {
  let server: LinkServer;
  const get = (path: string, init?: RequestInit) => fetch(server.url + path, init);
  const inAnHour = () => new Date(server.clock.now() + HOUR_MS).toISOString();
  const remove = (code: string, token: string) =>
    get(`/api/links/${code}`, { method: 'DELETE', headers: { authorization: `Bearer ${token}` } });

  beforeAll(async () => {
    server = await startLinkServer({ backend, settings: { LINKS_RATE_LIMIT_UNLOCK_FAILURES: '0' } });
  });
  afterAll(() => server.close());

  describe('creating', () => {
    test('answers 201 with the five fields that the specification names', async () => {
      const response = await post(server, '/api/links', { url: 'https://example.com/a' });
      expect(response.status).toBe(201);
      expect(response.headers.get('cache-control')).toBe('no-store');
      const created = await json(response);
      expect(Object.keys(created).sort()).toEqual(
        ['deleteToken', 'expiresAt', 'hasPassword', 'shortCode', 'shortUrl'].sort(),
      );
      expect(created.shortCode).toMatch(new RegExp(`^[${READABLE_ALPHABET}]{7}$`));
      expect(created).toMatchObject({
        shortUrl: `${server.url}/${created.shortCode}`,
        expiresAt: null,
        hasPassword: false,
      });
      expect(created.deleteToken).toMatch(/^dk_[\w-]{43}$/);
    });

    test('takes a custom code, a password and an expiry', async () => {
      const fields = { customCode: 'My_code-1', password: '😀😀😀😀', expiresAt: inAnHour() };
      expect(await createLink(server, fields)).toMatchObject({
        shortCode: 'My_code-1',
        hasPassword: true,
        expiresAt: fields.expiresAt,
      });
    });

    test.each([
      ['no url', { url: undefined }, 'url'],
      ['a url that is no text', { url: 5 }, 'url'],
      ['a private address', { url: 'http://0x7f.1/' }, 'url'],
      ['another scheme', { url: 'ftp://example.com' }, 'url'],
      ['a url of 2049 characters', { url: `https://example.com/${'a'.repeat(2029)}` }, 'url'],
      ['white space in the url', { url: 'https://example.com/a b' }, 'url'],
      ['a custom code of 2 characters', { customCode: 'ab' }, 'customCode'],
      ['a custom code of 21 characters', { customCode: 'a'.repeat(21) }, 'customCode'],
      ['a custom code with a dot', { customCode: 'a.bc' }, 'customCode'],
      ['a custom code that the site uses', { customCode: 'stats' }, 'customCode'],
      ['a custom code that the API uses', { customCode: 'api' }, 'customCode'],
      ['a custom code that the assets use', { customCode: 'assets' }, 'customCode'],
      ['a password of 3 characters', { password: 'abc' }, 'password'],
      ['a password of 101 characters', { password: 'x'.repeat(101) }, 'password'],
      ['an expiry that is no time', { expiresAt: 'tomorrow' }, 'expiresAt'],
      ['an expiry without an offset', { expiresAt: '2027-01-31T12:00:00' }, 'expiresAt'],
      ['an expiry that is a date', { expiresAt: '2027-01-31' }, 'expiresAt'],
      ['an expiry on a day that is none', { expiresAt: '2027-02-30T12:00:00Z' }, 'expiresAt'],
      ['an expiry with an offset of 25 hours', { expiresAt: '2027-01-31T12:00:00+25:00' }, 'expiresAt'],
      ['an expiry now', { expiresAt: '2026-01-31T12:00:00.000Z' }, 'expiresAt'],
      ['an expiry that has passed by its offset', { expiresAt: '2026-01-31T13:59:59+02:00' }, 'expiresAt'],
    ])('refuses %s with 400 and says where', async (_what, fields, field) => {
      const response = await post(server, '/api/links', { url: 'https://example.com/', ...fields });
      expect(response.status).toBe(400);
      expect(await json(response)).toEqual({
        error: expect.any(String),
        details: { [field]: [expect.any(String)] },
      });
    });

    test('refuses its own host', async () => {
      // The test server is at an address that is private anyway; its name stands in the configuration.
      const before = server.platform.config.links.url;
      server.platform.config.links.url = 'https://sho.rt';
      const response = await post(server, '/api/links', { url: 'https://sho.rt/other' });
      server.platform.config.links.url = before;
      expect(await json(response)).toMatchObject({
        details: { url: ['must not lead to this service itself'] },
      });
    });

    test.each([
      ['2026-01-31T14:00:00.001+02:00', '2026-01-31T12:00:00.001Z'],
      ['2026-01-31T17:46:00+05:45', '2026-01-31T12:01:00.000Z'],
      ['2026-02-01T00:00:00-12:00', '2026-02-01T12:00:00.000Z'],
      ['9999-12-31T23:59:59Z', '9999-12-31T23:59:59.000Z'],
    ])('takes the expiry %s', async (expiresAt, answered) => {
      expect((await createLink(server, { expiresAt })).expiresAt).toBe(answered);
    });

    test('gives a custom code to one of those who race for it', async () => {
      const answers = await Promise.all(
        Array.from({ length: 12 }, () =>
          post(server, '/api/links', { url: 'https://example.com/', customCode: 'race-me' }),
        ),
      );
      expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
      expect(answers.filter(({ status }) => status === 409)).toHaveLength(11);
    });

    test('tells codes of another case apart', async () => {
      await createLink(server, { customCode: 'CaseD', url: 'https://example.com/upper' });
      await createLink(server, { customCode: 'cased', url: 'https://example.com/lower' });
      expect((await follow(server, 'CaseD')).headers.get('location')).toBe('https://example.com/upper');
      expect((await follow(server, 'cased')).headers.get('location')).toBe('https://example.com/lower');
    });
  });

  describe('reading', () => {
    test('answers the metadata, with the destination as it was sent', async () => {
      const url = 'HTTPS://Example.com/straße?q=a+b#ü';
      const { shortCode } = await createLink(server, { url });
      expect(await json(get(`/api/links/${shortCode}`))).toEqual({
        shortCode,
        shortUrl: `${server.url}/${shortCode}`,
        originalUrl: url,
        hasPassword: false,
        expiresAt: null,
        clickCount: 0,
        createdAt: '2026-01-31T12:00:00.000Z',
      });
    });

    test('leaves the destination out when the link has a password', async () => {
      const { shortCode } = await createLink(server, { password: 'secret' });
      const link = await json(get(`/api/links/${shortCode}`));
      expect(link).not.toHaveProperty('originalUrl');
      expect(link.hasPassword).toBe(true);
    });

    test.each(['nobody7', 'ab', 'a'.repeat(21), 'a.b', '%2e%2e', '%00abc'])(
      'answers 404 for %s',
      async (code) => {
        const response = await get(`/api/links/${code}`);
        expect(response.status).toBe(404);
        expect(Object.keys(await json(response))).toEqual(['error']);
      },
    );
  });

  describe('unlocking', () => {
    test('gives the destination for the password, and counts a click, whoever comes', async () => {
      const { shortCode } = await createLink(server, { password: 'open sesame' });
      const unlock = (agent: string) =>
        post(server, '/api/verify', { shortCode, password: 'open sesame' }, { 'user-agent': agent });
      expect(await json(unlock('Googlebot/2.1'))).toEqual({ originalUrl: 'https://example.com/' });
      expect((await unlock('curl/8')).status).toBe(200);
      expect(await json(get(`/api/links/${shortCode}`))).toMatchObject({ clickCount: 2 });
    });

    test('has one answer for a wrong password, an unknown or expired link, and one without a password', async () => {
      const locked = await createLink(server, { password: 'right one' });
      const open = await createLink(server);
      const expired = await createLink(server, { password: 'right one', expiresAt: inAnHour() });
      server.clock.advance(HOUR_MS);
      const answers = await Promise.all(
        [
          [locked.shortCode, 'wrong one'],
          [open.shortCode, 'right one'],
          [expired.shortCode, 'right one'],
          ['unknown', 'right one'],
        ].map(async ([shortCode, password]) => {
          const response = await post(server, '/api/verify', { shortCode, password });
          return { status: response.status, body: await response.text() };
        }),
      );
      expect(new Set(answers.map((answer) => JSON.stringify(answer))).size).toBe(1);
      expect(answers[0]?.status).toBe(401);
    });

    test.each([
      ['no code', { shortCode: undefined }, 'shortCode'],
      ['a malformed code', { shortCode: 'a b' }, 'shortCode'],
      ['no password', { password: undefined }, 'password'],
      ['a password that is no text', { password: 5 }, 'password'],
    ])('refuses %s with 400', async (_what, fields, field) => {
      const response = await post(server, '/api/verify', { shortCode: 'abcdef', password: 'x', ...fields });
      expect(response.status).toBe(400);
      expect(Object.keys((await json(response)).details as object)).toEqual([field]);
    });
  });

  describe('deleting', () => {
    test('takes the token, and the link is gone with its code free again', async () => {
      const { shortCode, deleteToken } = await createLink(server, { customCode: 'delete-me' });
      await follow(server, shortCode);
      const response = await remove(shortCode, deleteToken);
      expect(response.status).toBe(200);
      expect(await json(response)).toEqual({ message: expect.any(String) });
      for (const path of [`/api/links/${shortCode}`, `/api/links/${shortCode}/stats`, `/${shortCode}`]) {
        expect((await get(path, { redirect: 'manual' })).status).toBe(404);
      }
      expect((await remove(shortCode, deleteToken)).status).toBe(404);
      await createLink(server, { customCode: 'delete-me', url: 'https://example.com/second' });
      expect((await follow(server, shortCode)).headers.get('location')).toBe('https://example.com/second');
      expect(await json(get(`/api/links/${shortCode}`))).toMatchObject({ clickCount: 1 });
    });

    test('has one answer for a wrong token and an unknown link', async () => {
      const { shortCode } = await createLink(server);
      const answers = await Promise.all(
        [
          [shortCode, 'dk_wrong'],
          ['unknown', 'dk_wrong'],
          [shortCode, 'x'],
        ].map(async ([code = '', token = '']) => {
          const response = await remove(code, token);
          return `${response.status} ${await response.text()}`;
        }),
      );
      expect(new Set(answers).size).toBe(1);
      expect(answers[0]).toMatch(/^404 /);
    });

    test.each([undefined, '', 'Basic dXNlcjpwYXNz', 'Bearer', 'Bearer ', 'dk_token', 'Bearer a b'])(
      'answers 401 for the header %j, also for unknown links',
      async (authorization) => {
        const { shortCode } = await createLink(server);
        for (const code of [shortCode, 'unknown']) {
          const response = await get(`/api/links/${code}`, {
            method: 'DELETE',
            ...(authorization !== undefined && { headers: { authorization } }),
          });
          expect(response.status).toBe(401);
        }
      },
    );
  });

  describe('statistics of a link', () => {
    test('have exactly as many days as asked for, the last one today', async () => {
      const { shortCode } = await createLink(server);
      for (const [query, length] of [
        ['', 30],
        ['?days=1', 1],
        ['?days=365', 365],
      ] as const) {
        const { timeline } = await json(get(`/api/links/${shortCode}/stats${query}`));
        expect(timeline).toHaveLength(length);
        const today = new Date(server.clock.now()).toISOString().slice(0, 10);
        expect((timeline as unknown[]).at(-1)).toEqual({ date: today, clicks: 0 });
      }
    });

    test.each(['0', '366', '-1', '1.5', 'abc', '', '1e2', '030', '1&days=2'])(
      'refuse days=%s with 400',
      async (days) => {
        const { shortCode } = await createLink(server);
        const response = await get(`/api/links/${shortCode}/stats?days=${days}`);
        expect(response.status).toBe(400);
        expect(Object.keys((await json(response)).details as object)).toEqual(['days']);
      },
    );

    test('group by browser, system, kind of device and referrer', async () => {
      const { shortCode } = await createLink(server);
      const iphone =
        'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1';
      await follow(server, shortCode, { 'user-agent': iphone, referer: 'https://News.Example/a?b' });
      await follow(server, shortCode, { 'user-agent': 'curl/8.5', referer: 'nonsense' });
      expect(await json(get(`/api/links/${shortCode}/stats?days=1`))).toMatchObject({
        totalClicks: 2,
        timeline: [{ clicks: 2 }],
        browsers: [
          { name: 'Safari', count: 1 },
          { name: 'Unknown', count: 1 },
        ],
        operatingSystems: [
          { name: 'Unknown', count: 1 },
          { name: 'iOS', count: 1 },
        ],
        devices: [
          { name: 'Mobile', count: 1 },
          { name: 'Unknown', count: 1 },
        ],
        topReferrers: [
          { host: 'Unknown', count: 1 },
          { host: 'news.example', count: 1 },
        ],
      });
    });
  });

  test('any text is answered as a destination exactly as it was sent, or refused', async () => {
    await fc.assert(
      fc.asyncProperty(fc.webUrl({ withFragments: true, withQueryParameters: true }), async (url) => {
        const response = await post(server, '/api/links', { url });
        if (response.status === 400) return;
        const { shortCode } = (await response.json()) as { shortCode: string };
        expect((await json(get(`/api/links/${shortCode}`))).originalUrl).toBe(url);
        expect((await follow(server, shortCode)).headers.get('location')).toBe(new URL(url).href);
      }),
      { numRuns: 25 },
    );
  });
});
