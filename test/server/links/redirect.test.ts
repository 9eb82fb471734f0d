// The redirect: what it answers, what it counts, and that no process redirects to what is gone.
import { request } from 'node:http';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { json } from '../../support/api.ts';
import { backends, createPostgresDatabase } from '../../support/databases.ts';
import { createLink, FIREFOX, follow, type LinkServer, startLinkServer } from '../../support/link-server.ts';

describe.each(backends())('redirects on $name', (backend) => {
  let server: LinkServer;
  beforeAll(async () => {
    server = await startLinkServer({ backend });
  });
  afterAll(() => server.close());
  const clicks = async (code: string) => (await json(fetch(`${server.url}/api/links/${code}`))).clickCount;

  test('are a 302 with the few headers that were decided, whether the link is in memory or not', async () => {
    const { shortCode } = await createLink(server, { url: 'https://example.com/straße?q=ü' });
    for (let round = 0; round < 3; round++) {
      const response = await follow(server, shortCode);
      expect(response.status).toBe(302);
      expect([...response.headers.keys()].sort()).toEqual([
        'cache-control',
        'connection',
        'content-length',
        'date',
        'keep-alive',
        'location',
      ]);
      expect(response.headers.get('location')).toBe('https://example.com/stra%C3%9Fe?q=%C3%BC');
      expect(response.headers.get('cache-control')).toBe('private, max-age=0');
      expect(await response.text()).toBe('');
    }
    expect(await clicks(shortCode)).toBe(3);
  });

  test('take a query along with nothing but the code', async () => {
    const { shortCode } = await createLink(server);
    expect((await fetch(`${server.url}/${shortCode}?utm=x`, { redirect: 'manual' })).status).toBe(302);
  });

  test.each([
    'curl/8.5.0',
    'Wget/1.21.4',
    'python-requests/2.32',
    'Go-http-client/2.0',
    'axios/1.7',
    'okhttp/4.12',
    'node',
    'HTTPie/3.2',
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) HeadlessChrome/120.0 Safari/537.36',
    '',
  ])('of %j are counted', async (agent) => {
    const { shortCode } = await createLink(server);
    expect((await follow(server, shortCode, { 'user-agent': agent })).status).toBe(302);
    expect(await clicks(shortCode)).toBe(1);
  });

  test.each([
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    'facebookexternalhit/1.1 (+http://www.facebook.com/externalhit_uatext.php)',
    'Twitterbot/1.0',
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'WhatsApp/2.23.20.0',
    'TelegramBot (like TwitterBot)',
    'Mozilla/5.0 (compatible; Discordbot/2.0; +https://discordapp.com)',
    'LinkedInBot/1.0',
    'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; GPTBot/1.2; +https://openai.com/gptbot)',
  ])('of %j happen and are not counted', async (agent) => {
    const { shortCode } = await createLink(server);
    expect((await follow(server, shortCode, { 'user-agent': agent })).status).toBe(302);
    expect(await clicks(shortCode)).toBe(0);
  });

  test('of other spellings of a code are answered and counted alike', async () => {
    const { shortCode } = await createLink(server);
    const escaped = `/%${shortCode.charCodeAt(0).toString(16)}${shortCode.slice(1)}`;
    for (const path of [escaped, `http://sho.rt/${shortCode}`]) {
      for (const method of ['GET', 'HEAD']) {
        expect(await rawStatus(server.url, method, path, FIREFOX)).toBe(302);
      }
      expect(await rawStatus(server.url, 'GET', path, 'Twitterbot/1.0')).toBe(302);
    }
    expect(await clicks(shortCode)).toBe(2);
  });

  test('of HEAD are answered and not counted', async () => {
    const { shortCode } = await createLink(server);
    const response = await fetch(`${server.url}/${shortCode}`, { method: 'HEAD', redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([302, 'https://example.com/']);
    expect(await clicks(shortCode)).toBe(0);
  });

  test('end with the second in which the link expires, though it is in memory', async () => {
    const expiresAt = new Date(server.clock.now() + 60_000).toISOString();
    const { shortCode } = await createLink(server, { expiresAt });
    await follow(server, shortCode);
    server.clock.advance(59_999);
    expect((await follow(server, shortCode)).status).toBe(302);
    server.clock.advance(1);
    const expired = await follow(server, shortCode);
    expect(expired.status).toBe(410);
    expect(await json(expired)).toEqual({ error: 'This link has expired.' });
    expect(await clicks(shortCode)).toBe(2);
    const metadata = await json(fetch(`${server.url}/api/links/${shortCode}`));
    expect(metadata).not.toHaveProperty('originalUrl');
    expect(metadata.expiresAt).toBe(expiresAt);
  });

  test('of a protected link lead to the page that asks for its password', async () => {
    const { shortCode } = await createLink(server, { password: 'secret' });
    const response = await follow(server, shortCode);
    expect([response.status, response.headers.get('location')]).toEqual([200, null]);
    expect(await clicks(shortCode)).toBe(0);
  });

  test('never lead to a link that is gone, however deletions and redirects race', async () => {
    for (let round = 0; round < 5; round++) {
      const { shortCode, deleteToken } = await createLink(server);
      let deleted = false;
      const follower = async () => {
        const afterDeletion = [];
        for (let request = 0; request < 25; request++) {
          const wasDeleted = deleted;
          const { status } = await follow(server, shortCode);
          if (wasDeleted) afterDeletion.push(status);
        }
        return afterDeletion;
      };
      const followers = [follower(), follower(), follower()];
      const response = await fetch(`${server.url}/api/links/${shortCode}`, {
        method: 'DELETE',
        headers: { authorization: `Bearer ${deleteToken}` },
      });
      expect(response.status).toBe(200);
      deleted = true;
      expect((await follow(server, shortCode)).status).toBe(404);
      expect([...new Set((await Promise.all(followers)).flat())].filter((status) => status !== 404)).toEqual(
        [],
      );
    }
  });
});

/** Sends the path as it stands, which fetch would tidy up. */
function rawStatus(origin: string, method: string, path: string, agent: string): Promise<number | undefined> {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    request({ hostname, port, method, path, headers: { 'user-agent': agent } }, (response) => {
      response.resume();
      resolve(response.statusCode);
    })
      .on('error', reject)
      .end();
  });
}

test('behind one trusted proxy clicks are told apart by the forwarded address, and no address is stored', async () => {
  const server = await startLinkServer({ settings: { TRUST_PROXY: '1' } });
  const { shortCode } = await createLink(server);
  for (const address of [
    '203.0.113.1',
    '203.0.113.2',
    '198.51.100.9, 203.0.113.2',
    '2001:db8::1',
    '2001:db8::2',
  ]) {
    await follow(server, shortCode, { 'x-forwarded-for': address });
  }
  await json(fetch(`${server.url}/api/links/${shortCode}`));
  const rows = await server.platform.database.selectFrom('click').selectAll().execute();
  expect(rows).toHaveLength(5);
  expect(new Set(rows.map(({ addressHash }) => addressHash)).size).toBe(3);
  expect(JSON.stringify(rows)).not.toMatch(/203\.0\.113|2001:db8/);
  await server.close();
});

describe.runIf(backends().length > 1 && inject('redisUrl') !== '')(
  'two servers over one PostgreSQL and one Redis',
  () => {
    const servers: LinkServer[] = [];
    let remove: () => Promise<void>;
    beforeAll(async () => {
      const database = await createPostgresDatabase(inject('postgresUrl'));
      const settings = {
        REDIS_URL: inject('redisUrl'),
        SVC_SECRET: `two link servers ${Math.random()}`.padEnd(40, '.'),
      };
      for (const _ of [1, 2]) servers.push(await startLinkServer({ database, settings }));
      remove = database.remove;
    });
    afterAll(async () => {
      for (const server of servers) await server.close();
      await remove();
    });

    test('forget a link that one of them deletes before it says so', async () => {
      const [one, two] = servers as [LinkServer, LinkServer];
      for (let round = 0; round < 20; round++) {
        const { shortCode, deleteToken } = await createLink(one);
        expect((await follow(two, shortCode)).status).toBe(302);
        await fetch(`${one.url}/api/links/${shortCode}`, {
          method: 'DELETE',
          headers: { authorization: `Bearer ${deleteToken}` },
        });
        expect((await follow(two, shortCode)).status).toBe(404);
      }
    });

    test('count together, and each shows what the other redirected', async () => {
      const [one, two] = servers as [LinkServer, LinkServer];
      const { shortCode } = await createLink(one);
      await Promise.all(Array.from({ length: 100 }, (_, index) => follow(index % 2 ? one : two, shortCode)));
      await json(fetch(`${one.url}/api/links/${shortCode}`));
      await expect
        .poll(async () => (await json(fetch(`${two.url}/api/links/${shortCode}`))).clickCount)
        .toBe(100);
    });

    test('share the statistics over all links for five minutes', async () => {
      const [one, two] = servers as [LinkServer, LinkServer];
      const first = await json(fetch(`${one.url}/api/stats`));
      await createLink(one);
      expect(await json(fetch(`${two.url}/api/stats`))).toEqual(first);
    });
  },
);
