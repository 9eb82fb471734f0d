import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { READABLE_ALPHABET } from '../../../src/platform/ids.ts';
import { aPaste, create, json, post } from '../../support/api.ts';
import { backends } from '../../support/databases.ts';
import { type PasteServer, startPasteServer } from '../../support/paste-server.ts';

const MIB = 1_048_576;

describe.each(backends())('the paste API on $name', (backend) => {
  let server: PasteServer;
  const get = (path: string, init?: RequestInit) => fetch(server.url + path, init);

  beforeAll(async () => {
    server = await startPasteServer({ backend });
  });
  afterAll(() => server.close());

  describe('creating', () => {
    test('answers 201 with the id, both addresses, the delete token and the flags', async () => {
      const response = await post(server, '/api/pastes', aPaste());
      expect(response.status).toBe(201);
      const created = await json(response);
      expect(Object.keys(created).sort()).toEqual(
        ['burnAfterRead', 'deleteToken', 'expiresAt', 'hasPassword', 'pasteId', 'rawUrl', 'url'].sort(),
      );
      expect(created.pasteId).toMatch(new RegExp(`^[${READABLE_ALPHABET}]{10}$`));
      expect(created).toMatchObject({
        url: `${server.url}/${created.pasteId}`,
        rawUrl: `${server.url}/raw/${created.pasteId}`,
        hasPassword: false,
        burnAfterRead: false,
      });
      expect(created.deleteToken).toMatch(/^dk_[\w-]{43}$/);
      expect(response.headers.get('cache-control')).toBe('no-store');
    });

    test.each([
      ['10min', 600],
      ['1h', 3_600],
      ['1d', 86_400],
      ['1w', 604_800],
      ['1mo', 2_592_000],
      ['1y', 31_536_000],
    ])('with %s expires after %i seconds', async (expiresIn, seconds) => {
      const { expiresAt } = await create(server, { expiresIn });
      expect(expiresAt).toBe(new Date(server.clock.now() + seconds * 1000).toISOString());
    });

    test.each([
      ['no content', { content: undefined }, 'content'],
      ['empty content', { content: '' }, 'content'],
      ['content that is no text', { content: 5 }, 'content'],
      ['NUL in the content', { content: 'a\0b' }, 'content'],
      ['a title of 101 characters', { title: '😀'.repeat(101) }, 'title'],
      ['a language nobody knows', { language: 'klingon' }, 'language'],
      ['no expiry', { expiresIn: undefined }, 'expiresIn'],
      ['another expiry', { expiresIn: '2h' }, 'expiresIn'],
      ['an empty password', { password: '' }, 'password'],
      ['a password of 129 characters', { password: 'x'.repeat(129) }, 'password'],
      ['a flag that is no boolean', { burnAfterRead: 'yes' }, 'burnAfterRead'],
      ['a custom id of 3 characters', { customId: 'abc' }, 'customId'],
      ['a custom id of 33 characters', { customId: 'a'.repeat(33) }, 'customId'],
      ['a custom id with a slash', { customId: 'ab/cd' }, 'customId'],
      ['a custom id the site uses', { customId: 'stats' }, 'customId'],
      ['a custom id the assets use', { customId: 'assets' }, 'customId'],
    ])('refuses %s with 400 and says where', async (_what, fields, field) => {
      const response = await post(server, '/api/pastes', aPaste(fields));
      expect(response.status).toBe(400);
      const body = await json(response);
      expect(Object.keys(body)).toEqual(['error', 'details']);
      expect(body.details).toEqual({ [field]: [expect.any(String)] });
    });

    test('takes titles of 100 and passwords of 128 code points', async () => {
      await create(server, { title: '😀'.repeat(100), password: '😀'.repeat(128) });
    });

    test('ignores unknown fields and takes null for what is not set', async () => {
      const { pasteId } = await create(server, {
        title: null,
        password: null,
        customId: null,
        burnAfterRead: null,
        colour: 'red',
      });
      expect(await json(get(`/api/pastes/${pasteId}`))).toMatchObject({ title: null, burnAfterRead: false });
    });

    test('stores an alias of a language as its id', async () => {
      const { pasteId } = await create(server, { language: 'py' });
      expect(await json(get(`/api/pastes/${pasteId}`))).toMatchObject({ language: 'python' });
    });

    test.each([
      ['plain', (text: string) => JSON.stringify(text)],
      [
        'escaped',
        (text: string) =>
          `"${[...Array(text.length).keys()].map((at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`).join('')}"`,
      ],
    ])('takes 1,048,576 bytes and not one more, %s', async (_name, write) => {
      for (const unit of ['a', '😀']) {
        const content = unit.repeat(MIB / Buffer.byteLength(unit));
        const fits = await post(server, '/api/pastes', `{"expiresIn":"1h","content":${write(content)}}`);
        expect(fits.status).toBe(201);
        const { pasteId } = await json(fits);
        const read = await json(get(`/api/pastes/${String(pasteId)}`));
        expect(read.content === content).toBe(true);
        expect(read.sizeBytes).toBe(MIB);
        const tooLarge = await post(
          server,
          '/api/pastes',
          `{"expiresIn":"1h","content":${write(`${content}a`)}}`,
        );
        expect(tooLarge.status).toBe(413);
        expect(await json(tooLarge)).toEqual({ error: expect.stringContaining('1 MB') });
      }
    });

    test('never changes the content', async () => {
      await fc.assert(
        fc.asyncProperty(
          fc
            .string({ unit: 'binary', minLength: 1, maxLength: 300 })
            .filter((text) => text.isWellFormed() && !text.includes('\0')),
          async (content) => {
            const { pasteId, rawUrl } = await create(server, { content });
            expect(await json(get(`/api/pastes/${pasteId}`))).toMatchObject({
              content,
              sizeBytes: Buffer.byteLength(content),
            });
            expect(Buffer.from(await (await fetch(rawUrl)).arrayBuffer()).equals(Buffer.from(content))).toBe(
              true,
            );
          },
        ),
        { numRuns: 40, examples: [['  \r\n\t '], ['\ufeffa'], ['e\u0301é'], ['\\"\\\\']] },
      );
    });

    test('gives a custom id to exactly one of those who race for it', async () => {
      const racers = await Promise.all(
        Array.from({ length: 20 }, (_, index) =>
          post(server, '/api/pastes', aPaste({ customId: 'wanted-id', content: `racer ${index}` })),
        ),
      );
      expect(racers.map(({ status }) => status).sort()).toEqual([201, ...Array(19).fill(409)]);
      expect(await json(racers.find(({ status }) => status === 409) ?? Response.error())).toEqual({
        error: expect.any(String),
      });
    });

    test('frees a custom id when its paste expires', async () => {
      await create(server, { customId: 'short-lived', expiresIn: '10min', content: 'old' });
      server.clock.advance(600_000);
      await create(server, { customId: 'short-lived', content: 'new' });
      expect(await json(get('/api/pastes/short-lived'))).toMatchObject({ content: 'new', viewCount: 1 });
    });
  });

  describe('reading', () => {
    test('answers every field and counts each read', async () => {
      const { pasteId, expiresAt } = await create(server, {
        title: 'T',
        language: 'typescript',
        content: 'é',
      });
      const read = await get(`/api/pastes/${pasteId}`);
      expect(read.headers.get('cache-control')).toBe('no-store');
      expect(await read.json()).toEqual({
        pasteId,
        title: 'T',
        content: 'é',
        language: 'typescript',
        createdAt: new Date(server.clock.now()).toISOString(),
        expiresAt,
        viewCount: 1,
        burnAfterRead: false,
        sizeBytes: 2,
      });
      expect(await json(get(`/api/pastes/${pasteId}`))).toMatchObject({ viewCount: 2 });
    });

    test('gives 200 concurrent readers the counts 1 to 200', async () => {
      const { pasteId } = await create(server);
      const reads = await Promise.all(Array.from({ length: 200 }, () => json(get(`/api/pastes/${pasteId}`))));
      const counts = reads.map(({ viewCount }) => Number(viewCount)).sort((a, b) => a - b);
      expect(counts).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
    });

    test('ends at the very moment of expiry', async () => {
      const { pasteId } = await create(server, { expiresIn: '10min' });
      server.clock.advance(599_999);
      expect((await get(`/api/pastes/${pasteId}`)).status).toBe(200);
      server.clock.advance(1);
      expect((await get(`/api/pastes/${pasteId}`)).status).toBe(404);
      expect((await post(server, `/api/pastes/${pasteId}/verify`, { password: 'x' })).status).toBe(404);
      expect((await get(`/raw/${pasteId}`)).status).toBe(404);
    });

    test('gives a burn-after-read paste to exactly one of those who race for it', async () => {
      const { pasteId, burnAfterRead } = await create(server, { burnAfterRead: true, content: 'once' });
      expect(burnAfterRead).toBe(true);
      const readers = await Promise.all(
        Array.from({ length: 50 }, (_, index) =>
          get(index % 2 ? `/raw/${pasteId}` : `/api/pastes/${pasteId}`),
        ),
      );
      expect(readers.filter(({ status }) => status === 200)).toHaveLength(1);
      expect(readers.filter(({ status }) => status === 404)).toHaveLength(49);
      const { rows } = await server.platform.storage.pool.query('SELECT 1 FROM paste WHERE paste_id = $1', [
        pasteId,
      ]);
      expect(rows).toEqual([]);
    });

    test('frees a custom id when its paste burns', async () => {
      await create(server, { customId: 'phoenix', burnAfterRead: true });
      await get('/api/pastes/phoenix');
      await create(server, { customId: 'phoenix' });
    });

    test('HEAD has the headers of GET and neither counts nor burns', async () => {
      for (const fields of [{}, { burnAfterRead: true }]) {
        const { pasteId } = await create(server, fields);
        for (const path of [`/api/pastes/${pasteId}`, `/raw/${pasteId}`, `/${pasteId}`]) {
          const head = await get(path, { method: 'HEAD' });
          expect([head.status, await head.text()]).toEqual([200, '']);
        }
        const head = await get(`/api/pastes/${pasteId}`, { method: 'HEAD' });
        const read = await get(`/api/pastes/${pasteId}`);
        expect(head.headers.get('content-length')).toBe(read.headers.get('content-length'));
        expect(head.headers.get('content-type')).toBe(read.headers.get('content-type'));
        expect(await read.json()).toMatchObject({ viewCount: 1 });
      }
    });
  });

  describe('passwords', () => {
    test('a read without the password is 403 with passwordRequired and counts nothing', async () => {
      const { pasteId, hasPassword } = await create(server, { password: 'pw' });
      expect(hasPassword).toBe(true);
      const refused = await get(`/api/pastes/${pasteId}`);
      expect(refused.status).toBe(403);
      expect(await refused.json()).toEqual({ error: expect.any(String), passwordRequired: true });
      expect(await json(post(server, `/api/pastes/${pasteId}/verify`, { password: 'pw' }))).toMatchObject({
        viewCount: 1,
      });
    });

    test('the right password answers the read and highlighted markup that carries its own styles', async () => {
      const { pasteId } = await create(server, {
        password: 'pw',
        language: 'ts',
        content: 'const a = "<b>";',
      });
      const unlocked = await json(post(server, `/api/pastes/${pasteId}/verify`, { password: 'pw' }));
      expect(Object.keys(unlocked)).toEqual([
        'pasteId',
        'title',
        'content',
        'language',
        'createdAt',
        'expiresAt',
        'viewCount',
        'burnAfterRead',
        'sizeBytes',
        'highlightedHtml',
      ]);
      expect(unlocked.highlightedHtml).toMatch(/^<pre style="/);
      expect(unlocked.highlightedHtml).toContain('&lt;b');
      expect(unlocked.highlightedHtml).not.toContain('<b>');
    });

    test('a wrong password is 401, and does not burn', async () => {
      const { pasteId } = await create(server, { password: 'pw', burnAfterRead: true });
      expect((await post(server, `/api/pastes/${pasteId}/verify`, { password: 'no' })).status).toBe(401);
      expect((await post(server, `/api/pastes/${pasteId}/verify`, { password: 'pw' })).status).toBe(200);
      expect((await post(server, `/api/pastes/${pasteId}/verify`, { password: 'pw' })).status).toBe(404);
    });

    test('verifying a paste without a password is a read', async () => {
      const { pasteId } = await create(server);
      expect(await json(post(server, `/api/pastes/${pasteId}/verify`, { password: 'any' }))).toMatchObject({
        content: 'hello',
        viewCount: 1,
      });
      expect(await json(get(`/api/pastes/${pasteId}`))).toMatchObject({ viewCount: 2 });
    });

    test('a password is kept as Argon2id and answered nowhere', async () => {
      const { pasteId } = await create(server, { password: 'hunter2-hunter2' });
      const { rows } = await server.platform.storage.pool.query('SELECT * FROM paste WHERE paste_id = $1', [
        pasteId,
      ]);
      expect(rows[0].password_hash).toMatch(/^\$argon2id\$/);
      expect(JSON.stringify(rows)).not.toContain('hunter2-hunter2');
    });
  });

  describe('the raw form', () => {
    test('is the bare text, sandboxed, and counts as a read', async () => {
      const { pasteId, rawUrl } = await create(server, { content: '<script>alert(1)</script>' });
      const raw = await fetch(rawUrl);
      expect(await raw.text()).toBe('<script>alert(1)</script>');
      expect(raw.headers.get('content-type')).toBe('text/plain; charset=utf-8');
      expect(raw.headers.get('x-content-type-options')).toBe('nosniff');
      expect(raw.headers.get('content-security-policy')).toContain('sandbox');
      expect(await json(get(`/api/pastes/${pasteId}`))).toMatchObject({ viewCount: 2 });
    });

    test('takes a password in X-Paste-Password, percent-encoded', async () => {
      const { rawUrl } = await create(server, { password: 'päss 😀', content: 'open' });
      const withPassword = (value: string) => fetch(rawUrl, { headers: { 'x-paste-password': value } });
      expect((await fetch(rawUrl)).status).toBe(403);
      expect((await withPassword('wrong')).status).toBe(401);
      expect((await withPassword('%E0%A4%A')).status).toBe(400);
      expect(await (await withPassword(encodeURIComponent('päss 😀'))).text()).toBe('open');
    });
  });

  describe('deleting', () => {
    const remove = (pasteId: string, token?: string) =>
      get(`/api/pastes/${pasteId}${token === undefined ? '' : `?token=${token}`}`, { method: 'DELETE' });

    test('with the token answers 204 and the paste is gone', async () => {
      const { pasteId, deleteToken } = await create(server);
      await get(`/api/pastes/${pasteId}`);
      const response = await remove(pasteId, deleteToken);
      expect([response.status, await response.text()]).toEqual([204, '']);
      expect((await get(`/api/pastes/${pasteId}`)).status).toBe(404);
      expect((await remove(pasteId, deleteToken)).status).toBe(404);
    });

    test('an unknown paste, an expired one and a wrong token are one answer', async () => {
      const { pasteId } = await create(server);
      const expired = await create(server, { expiresIn: '10min' });
      server.clock.advance(600_000);
      const answers = await Promise.all([
        remove(pasteId, 'dk_wrong'),
        remove('unknown-paste', 'dk_wrong'),
        remove(expired.pasteId, expired.deleteToken),
      ]);
      const seen = await Promise.all(
        answers.map(async (answer) => ({ status: answer.status, body: await answer.text() })),
      );
      expect(seen[0]?.status).toBe(404);
      expect(new Set(seen.map((answer) => JSON.stringify(answer))).size).toBe(1);
    });

    test('without a token is 400', async () => {
      const { pasteId } = await create(server);
      expect(await json(remove(pasteId))).toMatchObject({ details: { token: ['is required'] } });
    });

    test('keeps no token, only its hash', async () => {
      const { pasteId, deleteToken } = await create(server);
      const { rows } = await server.platform.storage.pool.query(
        'SELECT delete_token_hash FROM paste WHERE paste_id = $1',
        [pasteId],
      );
      expect(rows[0].delete_token_hash).toHaveLength(32);
      expect(rows[0].delete_token_hash.toString('latin1')).not.toContain(deleteToken.slice(3, 20));
    });
  });

  test('health says that database and store are there', async () => {
    expect(await json(get('/api/health'))).toEqual({ ok: true, db: true, redis: true });
  });

  test('languages are listed by id and name', async () => {
    const { languages } = (await json(get('/api/languages'))) as {
      languages: Array<{ id: string; name: string }>;
    };
    expect(languages).toContainEqual({ id: 'plaintext', name: expect.any(String) });
    expect(languages).toContainEqual({ id: 'typescript', name: 'TypeScript' });
    expect(languages.length).toBeGreaterThan(200);
  });
});
