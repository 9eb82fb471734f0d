// The pages and forms without a browser: what they answer, and that they follow the API's rules.
import { Validator } from '@seriousme/openapi-schema-validator';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { create, json } from '../../support/api.ts';
import { type PasteServer, startPasteServer } from '../../support/paste-server.ts';

let server: PasteServer;
beforeAll(async () => {
  server = await startPasteServer();
});
afterAll(() => server.close());

const HTML = { accept: 'text/html' };
const get = (path: string) => fetch(server.url + path, { headers: HTML });
const submit = (path: string, fields: Record<string, string>) =>
  fetch(server.url + path, { method: 'POST', headers: HTML, body: new URLSearchParams(fields) });
const tokenIn = (html: string) => /dk_[\w-]{43}/.exec(html)?.[0] ?? '';

test('the form creates a paste and shows address, QR code and delete token once', async () => {
  const response = await submit('/', {
    content: 'from a form\r\nline 2',
    title: 'T',
    language: 'ts',
    expiresIn: '1d',
    password: '',
    customId: 'by-form',
  });
  expect(response.status).toBe(201);
  const html = await response.text();
  expect(html).toContain(`${server.url}/by-form`);
  expect(html).toContain('<svg');
  expect(tokenIn(html)).not.toBe('');
  expect(await json(fetch(`${server.url}/api/pastes/by-form`))).toMatchObject({
    content: 'from a form\nline 2',
    language: 'typescript',
    title: 'T',
  });
});

test('HEAD of a page has the length that GET has, and counts nothing', async () => {
  const { pasteId } = await create(server);
  const head = await fetch(`${server.url}/${pasteId}`, { method: 'HEAD', headers: HTML });
  const page = await get(`/${pasteId}`);
  expect(Number(head.headers.get('content-length'))).toBe((await page.arrayBuffer()).byteLength);
  expect(await json(fetch(`${server.url}/api/pastes/${pasteId}`))).toMatchObject({ viewCount: 2 });
});

test('a range of lines is still marked behind a password or a burn', async () => {
  const content = 'one\ntwo\nthree';
  for (const fields of [{ password: 'secret' }, { burnAfterRead: true }]) {
    const { pasteId } = await create(server, { content, ...fields });
    const gate = await (await get(`/${pasteId}?lines=2-3`)).text();
    expect(gate).toContain('<input type="hidden" name="lines" value="2-3">');
    const shown = await (await submit(`/${pasteId}`, { password: 'secret', lines: '2-3' })).text();
    expect(shown).toContain('<mark class="range" id="marked">');
  }
});

test('the form that is refused comes back with what was written, and says what is wrong', async () => {
  const response = await submit('/', { content: 'keep <me>', expiresIn: '1d', customId: 'x' });
  expect(response.status).toBe(400);
  const html = await response.text();
  expect(html).toMatch(/keep &(lt|#60);me/);
  expect(html).toContain('4 to 32 characters');
});

test('the form says when an address is taken', async () => {
  await create(server, { customId: 'form-taken' });
  const response = await submit('/', { content: 'x', expiresIn: '1d', customId: 'form-taken' });
  expect(response.status).toBe(409);
  expect(await response.text()).toContain('already taken');
});

test('a view counts as a read, and user content is escaped', async () => {
  const { pasteId } = await create(server, { content: '<img src=x onerror=alert(1)>', title: '<i>t</i>' });
  const page = await get(`/${pasteId}`);
  expect(page.headers.get('cache-control')).toBe('no-store');
  const html = await page.text();
  expect(html).not.toContain('<img src=x');
  expect(html).not.toContain('<i>t</i>');
  expect(html).not.toMatch(/ style="/);
  expect(await json(fetch(`${server.url}/api/pastes/${pasteId}`))).toMatchObject({ viewCount: 2 });
});

test('?lines= marks a range without JavaScript', async () => {
  const { pasteId } = await create(server, { content: 'a\nb\nc\nd' });
  expect(await (await get(`/${pasteId}?lines=2-3`)).text()).toContain('<mark');
  expect((await get(`/${pasteId}?lines=2&lines=3`)).status).toBe(200);
});

describe('a burn-after-read paste', () => {
  test('is not burned by fetching its page, only by opening it', async () => {
    const { pasteId } = await create(server, { burnAfterRead: true, content: 'only once' });
    const gate = await (await get(`/${pasteId}`)).text();
    expect(gate).toContain('deleted when you open it');
    expect(gate).not.toContain('only once');
    await get(`/${pasteId}`);
    expect(await (await submit(`/${pasteId}`, { open: 'yes' })).text()).toContain('only once');
    expect((await submit(`/${pasteId}`, { open: 'yes' })).status).toBe(404);
    expect((await get(`/${pasteId}`)).status).toBe(404);
  });
});

describe('a protected paste', () => {
  test('asks for its password and opens with it', async () => {
    const { pasteId } = await create(server, { password: 'pw', content: 'behind' });
    const form = await get(`/${pasteId}`);
    expect(form.status).toBe(200);
    expect(await form.text()).not.toContain('behind');
    const wrong = await submit(`/${pasteId}`, { password: 'no' });
    expect(wrong.status).toBe(401);
    expect(await wrong.text()).toContain('The password is wrong.');
    expect(await (await submit(`/${pasteId}`, { password: 'pw' })).text()).toContain('behind');
  });

  test('cannot be copied into a new one without it', async () => {
    const { pasteId } = await create(server, { password: 'pw', content: 'behind' });
    expect(await (await get(`/?from=${pasteId}`)).text()).not.toContain('behind');
  });
});

test('a new paste can start from another', async () => {
  const { pasteId } = await create(server, { content: 'start here', language: 'rust' });
  expect(await (await get(`/?from=${pasteId}`)).text()).toContain('start here');
  expect((await get('/?from=no-such-paste')).status).toBe(404);
});

test('the delete page takes the token, and says alike for a wrong one and an unknown paste', async () => {
  const { pasteId, deleteToken } = await create(server);
  const wrong = await submit(`/${pasteId}/delete`, { token: 'dk_wrong' });
  expect(wrong.status).toBe(404);
  const unknown = await submit('/no-such-paste/delete', { token: 'dk_wrong' });
  expect((await unknown.text()).replaceAll('no-such-paste', pasteId)).toBe(await wrong.text());
  expect((await submit(`/${pasteId}/delete`, { token: deleteToken })).status).toBe(200);
  expect((await get(`/${pasteId}`)).status).toBe(404);
});

test('deleting takes the content out of memory too', async () => {
  const { pasteId, deleteToken } = await create(server, { content: 'cached' });
  await fetch(`${server.url}/api/pastes/${pasteId}`);
  await submit(`/${pasteId}/delete`, { token: deleteToken });
  await create(server, { customId: pasteId, content: 'another' });
  expect(await json(fetch(`${server.url}/api/pastes/${pasteId}`))).toMatchObject({
    content: 'another',
    viewCount: 1,
  });
});

test('the statistics page counts', async () => {
  expect(await (await get('/stats')).text()).toContain('Statistics');
});

test('assets are kept for good under their hash, and answer If-None-Match', async () => {
  const html = await (await get('/')).text();
  const paths = [...html.matchAll(/(?:src|href)="(\/assets\/[^"]+)"/g)].map((match) =>
    (match[1] ?? '').replaceAll('&#61;', '='),
  );
  expect(paths.length).toBeGreaterThan(3);
  for (const path of paths) {
    const asset = await fetch(server.url + path);
    expect([path, asset.status, asset.headers.get('cache-control')]).toEqual([
      path,
      200,
      'public, max-age=31536000, immutable',
    ]);
    const again = await fetch(server.url + path, {
      headers: { 'if-none-match': asset.headers.get('etag') ?? '' },
    });
    expect([again.status, await again.text()]).toEqual([304, '']);
  }
  expect((await fetch(`${server.url}/assets/base.css`)).headers.get('cache-control')).toBe(
    'public, no-cache',
  );
});

test('every page runs under a policy without unsafe-inline', async () => {
  const { pasteId } = await create(server);
  for (const path of ['/', `/${pasteId}`, '/stats', `/${pasteId}/delete`, '/api/docs', '/nothing-here']) {
    const policy = (await get(path)).headers.get('content-security-policy') ?? '';
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
  }
});

test('the OpenAPI document is valid and lists exactly the API that answers', async () => {
  const document = await (await fetch(`${server.url}/api/openapi.json`)).json();
  expect((await new Validator().validate(document)).errors ?? []).toEqual([]);
  const listed = Object.entries<Record<string, unknown>>(document.paths).flatMap(([path, item]) =>
    Object.keys(item).map((method) => `${method.toUpperCase()} ${path}`),
  );
  expect(listed.sort()).toEqual([
    'DELETE /pastes/{id}',
    'GET /health',
    'GET /languages',
    'GET /pastes/{id}',
    'GET /raw/{id}',
    'GET /stats',
    'POST /pastes',
    'POST /pastes/{id}/verify',
  ]);
  expect(document.servers).toEqual([{ url: `${server.url}/api` }]);
  expect(document.paths['/raw/{id}'].get.servers).toEqual([{ url: server.url }]);
  const refused = document.paths['/pastes/{id}'].get.responses['403'].content['application/json'].schema;
  expect(Object.keys(refused.properties)).toEqual(['error', 'passwordRequired']);
});
