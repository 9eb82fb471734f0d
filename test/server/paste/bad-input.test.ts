import { connect } from 'node:net';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { aPaste, create, json, post } from '../../support/api.ts';
import { embedded } from '../../support/databases.ts';
import { type PasteServer, startPasteServer } from '../../support/paste-server.ts';

let server: PasteServer;
beforeAll(async () => {
  server = await startPasteServer({ backend: embedded });
});
afterAll(() => server.close());

const send = (path: string, init?: RequestInit) => fetch(server.url + path, init);
const JSON_TYPE = { 'content-type': 'application/json' };

/** The service's own shape and nothing that tells of the inside. */
async function expectRefusal(response: Response, status: number): Promise<Record<string, unknown>> {
  const text = await response.text();
  expect([response.status, text]).toEqual([
    status,
    expect.not.stringMatching(/node_modules|\.ts:|\.js:|FST_|SQLSTATE/),
  ]);
  const body = JSON.parse(text);
  expect(body).toEqual({ error: expect.any(String), ...(status === 400 && { details: expect.any(Object) }) });
  expect(response.headers.get('content-security-policy')).not.toContain('unsafe-inline');
  expect(response.headers.get('x-content-type-options')).toBe('nosniff');
  expect(response.headers.get('x-request-id')).toMatch(/^[\da-f-]{36}$/);
  expect(response.headers.get('cache-control')).toBe('no-store');
  return body;
}

describe('bodies', () => {
  test.each([
    ['nothing', ''],
    ['malformed JSON', '{"content":'],
    ['a text', '"hello"'],
    ['an array', '[]'],
    ['null', 'null'],
    ['a number', '7'],
    ['invalid UTF-8', Buffer.from([0x7b, 0xff, 0xfe, 0x7d])],
    ['a million brackets', '['.repeat(60_000)],
  ])('%s is 400', async (_what, body) => {
    const refusal = await expectRefusal(
      await send('/api/pastes', { method: 'POST', headers: JSON_TYPE, body }),
      400,
    );
    expect(Object.keys(refusal.details as object)).toEqual(['body']);
  });

  test('malformed JSON that is quoted nowhere: it may hold a secret', async () => {
    const response = await post(server, '/api/pastes', '{"password":"hunter2" oops}');
    expect(await response.text()).not.toContain('hunter2');
  });

  test.each(['content', 'title', 'password', 'language', 'customId', 'other'])(
    'a lone surrogate in %s is 400',
    async (field) => {
      const body = JSON.stringify(aPaste()).replace('{', `{"${field}":"\\ud800",`);
      const withField = field === 'content' ? '{"expiresIn":"1h","content":"a\\udc00"}' : body;
      const refusal = await expectRefusal(await post(server, '/api/pastes', withField), 400);
      expect(refusal.details).toHaveProperty(field);
    },
  );

  test.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'application/xml',
    'multipart/form-data; boundary=x',
    'application/json5',
  ])('%s is 415', async (type) => {
    await expectRefusal(
      await send('/api/pastes', { method: 'POST', headers: { 'content-type': type }, body: 'x' }),
      415,
    );
  });

  test('no content type at all is 415', async () => {
    const answer = await rawRequest(
      'POST /api/pastes HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}',
    );
    expect(answer).toMatch(/^HTTP\/1.1 415/);
  });

  test('JSON with a charset is fine', async () => {
    const response = await send('/api/pastes', {
      method: 'POST',
      headers: { 'content-type': 'Application/JSON; charset=utf-8' },
      body: JSON.stringify(aPaste()),
    });
    expect(response.status).toBe(201);
  });

  test('a body over the limit is 413, announced or chunked', async () => {
    const huge = 'x'.repeat(7 * 1_048_576);
    await expectRefusal(await post(server, '/api/pastes', huge), 413);
    const stream = new ReadableStream({
      start: (controller) => {
        for (let at = 0; at < huge.length; at += 65_536)
          controller.enqueue(Buffer.from(huge.slice(at, at + 65_536)));
        controller.close();
      },
    });
    const init = { method: 'POST', headers: JSON_TYPE, body: stream, duplex: 'half' };
    await expectRefusal(await send('/api/pastes', init as RequestInit), 413);
    await expectRefusal(await post(server, '/api/pastes/any-paste/verify', 'x'.repeat(70_000)), 413);
  });

  test('a large body with a million things in a field nobody knows is taken as if they were not there', async () => {
    const filler = Array.from({ length: 400_000 }, () => '{}').join(',');
    const nested = '['.repeat(800_000) + ']'.repeat(800_000);
    for (const unknown of [`[${filler}]`, nested]) {
      const body = `{"content":"x","expiresIn":"1h","a":${unknown}}`;
      expect((await post(server, '/api/pastes', body)).status).toBe(201);
      const wrong = await post(server, '/api/pastes', `{"expiresIn":"1h","content":${unknown}}`);
      expect((await expectRefusal(wrong, 400)).details).toEqual({ content: [expect.any(String)] });
    }
  });

  test('a form whose bytes are no UTF-8 is 400, one that holds U+FFFD itself is not', async () => {
    const form = (content: string) =>
      send('/', {
        method: 'POST',
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
        body: `expiresIn=1h&content=${content}`,
      });
    await expectRefusal(await form('%FFabc'), 400);
    await expectRefusal(await form('%C3%28'), 400);
    expect((await form('%EF%BF%BD')).status).toBe(201);
    expect((await form('\ufffd')).status).toBe(201);
    expect((await form('100%')).status).toBe(201);
  });

  test('names of the prototype are only names', async () => {
    const response = await post(
      server,
      '/api/pastes',
      '{"content":"a","expiresIn":"1h","__proto__":{"burnAfterRead":true},"constructor":1}',
    );
    expect(response.status).toBe(201);
    expect(await response.json()).toMatchObject({ burnAfterRead: false });
  });
});

test('a request without Host is refused in our own shape, an unknown expectation is ignored', async () => {
  const answer = await rawRequest('GET /api/health HTTP/1.1\r\nConnection: close\r\n\r\n');
  expect(answer).toMatch(/^HTTP\/1\.1 400/);
  expect(answer).toContain('x-content-type-options: nosniff');
  expect(answer).toContain('"details":{"Host"');
  const expecting = await rawRequest(
    'GET /api/health HTTP/1.1\r\nHost: x\r\nExpect: nonsense\r\nConnection: close\r\n\r\n',
  );
  expect(expecting).toMatch(/^HTTP\/1\.1 200/);
});

test.each([
  ['PROPFIND', '/api/pastes', 'POST'],
  ['PROPFIND', '/api/pastes/abcdef', 'DELETE, GET, HEAD'],
  ['MKCOL', '/stats', 'GET, HEAD'],
])('%s %s is 405 with what the address takes', async (method, path, allow) => {
  const response = await send(path, { method });
  await expectRefusal(response, 405);
  expect(response.headers.get('allow')).toBe(allow);
});

test('a method nobody knows at an address that is not there is 404', async () => {
  await expectRefusal(await send('/api/nothing', { method: 'PROPFIND' }), 404);
});

describe('addresses', () => {
  test.each([
    '/api',
    '/api/',
    '/api/nothing',
    '/api/pastes/',
    '/api/pastes/abc',
    `/api/pastes/${'a'.repeat(33)}`,
    `/api/pastes/${'a'.repeat(5_000)}`,
    '/api/pastes/..%2f..%2fetc',
    '/api/pastes/%2e%2e',
    '/api/pastes/a%00bcd',
    '/api/pastes/%zz',
    '/api/pastes/%ff%fe',
    '/api/pastes/päste',
    '/api/pastes/abcd/verify/more',
    '/raw/',
    '/raw/..%2fsecret',
    '/raw/abcd/efgh',
    '/assets/..%2f..%2fpackage.json',
    '/assets/nothing.css',
    '/wp-login.php',
    '/.env',
    '/abcd/delete/now',
    "/api/pastes/abcd'%20OR%201=1",
    '/api/pastes/__proto__',
    '/api/pastes/constructor',
  ])('%s is 404', async (path) => {
    await expectRefusal(await send(path), 404);
  });

  test.each([
    ['PUT', '/api/pastes', 'POST'],
    ['GET', '/api/pastes', 'POST'],
    ['PATCH', '/api/pastes/some-paste', 'DELETE, GET, HEAD'],
    ['DELETE', '/api/stats', 'GET, HEAD'],
    ['POST', '/api/health', 'GET, HEAD'],
    ['OPTIONS', '/api/pastes', 'POST'],
    ['POST', '/raw/some-paste', 'GET, HEAD'],
    ['PUT', '/', 'GET, HEAD, POST'],
    ['DELETE', '/some-paste', 'GET, HEAD, POST'],
  ])('%s %s is 405 and says %s', async (method, path, allow) => {
    const response = await send(path, {
      method,
      ...(method === 'GET' ? {} : { headers: { 'content-type': 'text/odd' }, body: 'x' }),
    });
    expect(response.headers.get('allow')).toBe(allow);
    await expectRefusal(response, 405);
  });

  test('a query that is given twice or as a list is 400', async () => {
    await expectRefusal(await send('/api/pastes/some-paste?token=a&token=b', { method: 'DELETE' }), 400);
    await expectRefusal(await send('/api/pastes/some-paste?token=', { method: 'DELETE' }), 400);
  });
});

describe('the wire', () => {
  test('huge headers are 431 in our shape', async () => {
    const answer = await rawRequest(
      `GET /api/health HTTP/1.1\r\nHost: x\r\nX-Huge: ${'x'.repeat(40_000)}\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 431/);
    expect(answer).toContain('{"error":');
  });

  test('what is no HTTP is 400 in our shape', async () => {
    const answer = await rawRequest('hello\r\n\r\n');
    expect(answer).toMatch(/^HTTP\/1.1 400/);
    expect(answer).toContain('{"error":');
  });
});

test('refusals come in their order: 404, 405, 415, 413, 429, 400, 404 of the object, 409', async () => {
  const limited = await startPasteServer({ settings: { PASTE_RATE_LIMIT_CREATE_PER_HOUR: '1' } });
  try {
    const attempt = async (body: string, type = 'application/json') =>
      (await fetch(`${limited.url}/api/pastes`, { method: 'POST', headers: { 'content-type': type }, body }))
        .status;
    const tooLarge = JSON.stringify({ content: 'x'.repeat(1_048_577), expiresIn: 'never' });
    expect(await attempt(tooLarge, 'text/plain')).toBe(415);
    expect(await attempt(tooLarge)).toBe(413);
    expect(await attempt('{"content"')).toBe(400);
    await create(limited, { customId: 'the-taken-one' });
    expect(await attempt(tooLarge, 'text/plain')).toBe(415);
    expect(await attempt(tooLarge)).toBe(413);
    expect(await attempt('{"content"')).toBe(429);
    expect(await attempt(JSON.stringify(aPaste({ customId: 'the-taken-one' })))).toBe(429);
    limited.clock.advance(3_600_000 - 1);
    limited.clock.advance(1);
    await create(limited, { customId: 'the-taken-two', expiresIn: '1d' });
    limited.clock.advance(3_600_000);
    expect(await attempt(JSON.stringify(aPaste({ customId: 'the-taken-two', expiresIn: 'never' })))).toBe(
      400,
    );
    expect(await attempt(JSON.stringify(aPaste({ customId: 'the-taken-two' })))).toBe(409);
    const verify = (id: string, body: string) =>
      fetch(`${limited.url}/api/pastes/${id}/verify`, { method: 'POST', headers: JSON_TYPE, body });
    expect((await verify('no-such-paste', '{')).status).toBe(400);
    expect((await verify('no-such-paste', '{"password":"x"}')).status).toBe(404);
  } finally {
    await limited.close();
  }
});

test('no JSON of any kind ends in a 500', async () => {
  const field = fc.oneof(fc.jsonValue(), fc.string(), fc.constantFrom('1h', 'ts', true, null, 'stats', '\0'));
  const body = fc.record(
    {
      content: field,
      title: field,
      language: field,
      expiresIn: field,
      password: field,
      burnAfterRead: field,
      customId: field,
    },
    { requiredKeys: [] },
  );
  await fc.assert(
    fc.asyncProperty(fc.oneof(body, fc.jsonValue()), async (value) => {
      const created = await post(server, '/api/pastes', value);
      expect([201, 400, 409]).toContain(created.status);
      const verified = await post(server, '/api/pastes/some-paste/verify', value);
      expect([400, 404]).toContain(verified.status);
    }),
    { numRuns: 150 },
  );
});

test('no path or query of any kind ends in a 500', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.webPath(),
      fc.webQueryParameters(),
      fc.constantFrom('GET', 'DELETE', 'HEAD'),
      async (path, query, method) => {
        for (const prefix of ['/api/pastes', '/raw', '']) {
          const response = await send(`${prefix}${path || '/'}?${query}`, { method });
          expect(response.status).toBeLessThan(500);
        }
      },
    ),
    { numRuns: 100 },
  );
});

test('an error of the site is a page for browsers and JSON for programs', async () => {
  const page = await send('/no-such-paste', { headers: { accept: 'text/html,*/*' } });
  expect(page.status).toBe(404);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(await page.text()).toContain('There is nothing here');
  expect(await json(send('/no-such-paste', { headers: { accept: '*/*' } }))).toEqual({
    error: expect.any(String),
  });
});

/** Sends bytes as they are and reads until the server closes. */
function rawRequest(text: string): Promise<string> {
  const { port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.on('data', (chunk) => {
      answer += chunk.toString();
    });
    socket.on('close', () => resolve(answer));
    socket.on('error', reject);
  });
}
