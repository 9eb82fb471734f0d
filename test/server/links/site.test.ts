// The pages and forms of the link service without a browser, its documents, and its QR codes.
import { Validator } from '@seriousme/openapi-schema-validator';
import jsqr from 'jsqr';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RESERVED_CODES } from '../../../src/services/links/reserved-codes.ts';
import { json } from '../../support/api.ts';
import { createLink, type LinkServer, startLinkServer } from '../../support/link-server.ts';

let server: LinkServer;
beforeAll(async () => {
  server = await startLinkServer();
});
afterAll(() => server.close());

// The package is CommonJS, whose types promise an ES module.
const readQr = jsqr as unknown as typeof jsqr.default;

const HTML = { accept: 'text/html' };
const get = (path: string, init?: RequestInit) =>
  fetch(server.url + path, { headers: HTML, redirect: 'manual', ...init });
const page = async (path: string) => (await get(path)).text();
const submit = (path: string, fields: Record<string, string>) =>
  get(path, { method: 'POST', body: new URLSearchParams(fields) });
const tokenIn = (html: string) => /dk_[\w-]{43}/.exec(html)?.[0] ?? '';

describe('the form', () => {
  test('creates a link and shows address, QR code and delete token once', async () => {
    const response = await submit('/', {
      url: 'https://example.com/form',
      customCode: 'by-form',
      password: '',
      expiresIn: '1d',
    });
    expect(response.status).toBe(201);
    const html = await response.text();
    expect(html).toContain(`${server.url}/by-form`);
    expect(html).toContain('<svg');
    expect(tokenIn(html)).not.toBe('');
    const { expiresAt, ...link } = await json(fetch(`${server.url}/api/links/by-form`));
    expect(link).toMatchObject({ originalUrl: 'https://example.com/form', hasPassword: false });
    expect(Date.parse(String(expiresAt)) - server.clock.now()).toBe(86_400_000);
    expect(await page('/by-form+')).not.toContain('dk_');
  });

  test('that is refused comes back with what was written, and says what is wrong', async () => {
    for (const [fields, message] of [
      [{ url: 'http://192.168.0.1/', customCode: 'kept-code' }, 'must not lead to a private'],
      [{ url: 'https://example.com/', customCode: 'x' }, 'must be 3 to 20 characters'],
      [{ url: 'https://example.com/', password: 'abc' }, 'must be 4 to 100 characters'],
      [{ url: 'https://example.com/', expiresIn: 'soon' }, 'must be one of'],
    ] as const) {
      const response = await submit('/', fields);
      const html = await response.text();
      expect([response.status, html]).toEqual([400, expect.stringContaining(message)]);
      expect(html).toContain(`value="${fields.url}"`);
    }
    await createLink(server, { customCode: 'taken' });
    expect((await submit('/', { url: 'https://example.com/', customCode: 'taken' })).status).toBe(409);
  });
});

describe('a protected link', () => {
  test('asks, refuses a wrong password, and leads on with the right one', async () => {
    const { shortCode } = await createLink(server, { password: 'open sesame' });
    expect(await page(`/${shortCode}`)).toContain('type="password"');
    const wrong = await submit(`/${shortCode}`, { password: 'wrong' });
    expect([wrong.status, await wrong.text()]).toEqual([401, expect.stringContaining('role="alert"')]);
    const right = await submit(`/${shortCode}`, { password: 'open sesame' });
    expect([right.status, right.headers.get('location')]).toEqual([302, 'https://example.com/']);
    expect(await json(fetch(`${server.url}/api/links/${shortCode}`))).toMatchObject({ clickCount: 1 });
  });

  test('keeps its destination from the preview', async () => {
    const { shortCode } = await createLink(server, { password: 'secret', url: 'https://hidden.example/' });
    expect(await page(`/${shortCode}+`)).not.toContain('hidden.example');
  });
});

test('the preview shows where a link leads, and counts nothing', async () => {
  const { shortCode } = await createLink(server, { url: 'https://example.com/where?<b>' });
  const html = await page(`/${shortCode}+`);
  // As the redirect will write it.
  expect(html).toContain('<strong>example.com</strong>/where?%3Cb%3E');
  expect(await json(fetch(`${server.url}/api/links/${shortCode}`))).toMatchObject({ clickCount: 0 });
});

test('an expired link is 410, an unknown one 404; JSON for programs, a page for browsers', async () => {
  const expiresAt = new Date(server.clock.now() + 1_000).toISOString();
  const { shortCode } = await createLink(server, { expiresAt, url: 'https://hidden.example/' });
  server.clock.advance(1_000);
  for (const [path, status] of [
    [`/${shortCode}`, 410],
    ['/unknown', 404],
    ['/unknown+', 404],
    ['/unknown/stats', 404],
    ['/no/such/path', 404],
  ] as const) {
    const asBrowser = await get(path);
    expect([path, asBrowser.status]).toEqual([path, status]);
    expect(asBrowser.headers.get('content-type')).toContain('text/html');
    expect(asBrowser.headers.get('content-security-policy')).not.toContain('unsafe');
    const asProgram = await get(path, { headers: {} });
    expect(asProgram.status).toBe(status);
    expect(Object.keys(await json(asProgram))).toEqual(['error']);
  }
  expect(await page(`/${shortCode}+`)).not.toContain('hidden.example');
});

test('a link is deleted from its page with its token', async () => {
  const { shortCode, deleteToken } = await createLink(server);
  expect((await submit(`/${shortCode}/delete`, { token: 'dk_wrong' })).status).toBe(404);
  expect((await submit(`/${shortCode}/delete`, { token: ` ${deleteToken} ` })).status).toBe(200);
  expect((await get(`/${shortCode}`)).status).toBe(404);
});

test('the statistics have pages, with charts drawn on the server', async () => {
  const { shortCode } = await createLink(server);
  await fetch(`${server.url}/${shortCode}`, { redirect: 'manual' });
  for (const query of ['', '?days=7', '?days=365', '?days=nonsense']) {
    const html = await page(`/${shortCode}/stats${query}`);
    expect(html).toContain('<svg');
    expect(html).not.toMatch(/ style=|<script(?! src)/);
  }
  expect(await page('/stats')).toContain('Links');
});

test('no code can be one that the site needs, and no page is one that a code can be', () => {
  const routes = server.app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .map((line) => /^ {4}[├└]── ([\w.-]+)/.exec(line)?.[1])
    .filter((segment) => segment !== undefined && /^[\w-]{3,20}$/.test(segment));
  for (const segment of routes) expect([...RESERVED_CODES]).toContain(segment);
  expect(new Set(routes)).toEqual(RESERVED_CODES);
});

test('the OpenAPI document is valid and lists exactly the API that answers', async () => {
  const document = await (await fetch(`${server.url}/api/openapi.json`)).json();
  expect((await new Validator().validate(document)).errors ?? []).toEqual([]);
  const listed = Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(listed.sort()).toEqual([
    'DELETE /links/{code}',
    'GET /health',
    'GET /links/{code}',
    'GET /links/{code}/qr',
    'GET /links/{code}/stats',
    'GET /stats',
    'POST /links',
    'POST /verify',
  ]);
  expect(document.servers).toEqual([{ url: `${server.url}/api` }]);
  const codes = document.paths['/links/{code}/qr'].get.responses[200].content;
  expect(Object.keys(codes)).toEqual(['image/png', 'image/svg+xml']);
  const docs = await get('/api/docs');
  expect(docs.headers.get('content-type')).toContain('text/html');
  expect(await docs.text()).toContain('image/png, image/svg+xml');
});

describe('QR codes', () => {
  const qr = (code: string, query = '') => get(`/api/links/${code}/qr${query}`);

  test('as PNG are 512 × 512, in the colours asked for, and hold the short URL', async () => {
    for (const customCode of ['abc', 'a-code-of-20-letters']) {
      const { shortUrl } = await createLink(server, { customCode });
      const response = await qr(customCode);
      expect(response.headers.get('content-type')).toBe('image/png');
      expect(response.headers.get('content-disposition')).toBe(`inline; filename="app-${customCode}.png"`);
      expect(response.headers.get('cache-control')).toBe('public, max-age=86400');
      const image = PNG.sync.read(Buffer.from(await response.arrayBuffer()));
      expect([image.width, image.height]).toEqual([512, 512]);
      expect(readQr(new Uint8ClampedArray(image.data), 512, 512)?.data).toBe(shortUrl);
      const colours = new Set<string>();
      for (let at = 0; at < image.data.length; at += 4)
        colours.add(image.data.subarray(at, at + 4).toString('hex'));
      expect([...colours].sort()).toEqual(['1b1b1dff', 'ffffffff']);
    }
  });

  test('as SVG hold the short URL too', async () => {
    const { shortCode, shortUrl } = await createLink(server);
    const response = await qr(shortCode, '?format=svg');
    expect(response.headers.get('content-type')).toBe('image/svg+xml');
    expect(response.headers.get('content-disposition')).toBe(`inline; filename="app-${shortCode}.svg"`);
    const svg = await response.text();
    expect(svg).toContain('#1b1b1d');
    expect(decodeSvg(svg)).toBe(shortUrl);
  });

  test('are asked for again with their entity tag', async () => {
    const { shortCode } = await createLink(server);
    const etag = (await qr(shortCode)).headers.get('etag') ?? '';
    const again = await get(`/api/links/${shortCode}/qr`, { headers: { 'if-none-match': etag } });
    expect([again.status, await again.text()]).toEqual([304, '']);
    expect((await qr(shortCode, '?format=svg')).headers.get('etag')).not.toBe(etag);
  });

  test('of an unknown link are 404, in another format 400', async () => {
    const { shortCode } = await createLink(server);
    expect((await qr('unknown')).status).toBe(404);
    expect((await qr(shortCode, '?format=gif')).status).toBe(400);
  });
});

/** Paints the strokes of the SVG (`M4 4.5h7m3 0h3…`) into a picture and reads that. */
function decodeSvg(svg: string): string | undefined {
  const modules = Number(/viewBox="0 0 (\d+) \1"/.exec(svg)?.[1]);
  const scale = 8;
  const side = modules * scale;
  const pixels = new Uint8ClampedArray(side * side * 4).fill(255);
  let [x, y] = [0, 0];
  for (const [, command, first = '0', second] of (
    /stroke="#1b1b1d" d="([^"]+)"/.exec(svg)?.[1] ?? ''
  ).matchAll(/([Mmh])(-?[\d.]+)(?: (-?[\d.]+))?/g)) {
    if (command === 'M') [x, y] = [Number(first), Number(second) - 0.5];
    else if (command === 'm') [x, y] = [x + Number(first), y + Number(second ?? 0)];
    else {
      for (let row = y * scale; row < (y + 1) * scale; row++) {
        for (let column = x * scale; column < (x + Number(first)) * scale; column++) {
          pixels.fill(0, (row * side + column) * 4, (row * side + column) * 4 + 3);
        }
      }
      x += Number(first);
    }
  }
  return readQr(pixels, side, side)?.data;
}
