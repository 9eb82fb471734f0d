// The HTTP foundation carries services with either error shape: the same routes, the same failures, two bodies.
import { Validator } from '@seriousme/openapi-schema-validator';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createApp } from '../../../src/server/http/app.ts';
import { documentationRoutes } from '../../../src/server/http/documentation.ts';
import { type ErrorShape, flatErrors, nestedErrors } from '../../../src/server/http/error-shapes.ts';
import { HttpError } from '../../../src/server/http/errors.ts';
import { healthRoute } from '../../../src/server/http/health.ts';
import { listen } from '../../../src/server/http/listen.ts';
import { defineRoute, type Route } from '../../../src/server/http/route.ts';
import { fastestBackend, type TestDatabase } from '../../support/databases.ts';
import { openTestPlatform, type TestPlatform } from '../../support/test-platform.ts';

function routes(): Route[] {
  return [
    defineRoute({
      method: 'POST',
      path: '/things/{id}',
      operationId: 'makeThing',
      summary: 'Make a thing',
      params: z.object({ id: z.string().regex(/^t\d+$/) }),
      query: z.object({ color: z.enum(['red', 'blue']).optional() }),
      body: z.object({ name: z.string().min(1, 'must not be empty') }),
      replies: {
        201: { description: 'Made.', schema: z.object({ id: z.string(), at: z.string().nullable() }) },
      },
      errors: ['CONFLICT'],
      limit: { rule: { name: 'things', limit: 2, windowMs: 60_000 }, counts: (status) => status === 201 },
      handler: async ({ params, body }) => {
        if (body.name === 'taken')
          throw new HttpError('CONFLICT', 'It is taken.', { serviceCode: 'THING_TAKEN' });
        if (body.name === 'deadlock') throw Object.assign(new Error('a deadlock'), { code: '40P01' });
        if (body.name === 'boom') throw new Error('secret inside: /src/thing.ts');
        const reply = { id: params.id, at: null, internal: 'never shown' };
        return { status: 201, body: reply };
      },
    }),
  ];
}

describe.each<[string, ErrorShape, (code: string, status: number) => unknown]>([
  [
    'flat',
    flatErrors,
    (_code, status) => ({
      error: expect.any(String),
      ...(status === 400 && { details: expect.any(Object) }),
    }),
  ],
  [
    'nested',
    nestedErrors,
    (code, status) => ({
      error: { code, message: expect.any(String), ...(status === 400 && { details: expect.any(Object) }) },
    }),
  ],
])('with %s errors', (_name, shape, expected) => {
  let database: TestDatabase;
  let test1: TestPlatform;
  let app: FastifyInstance;
  let url: string;

  beforeAll(async () => {
    database = await fastestBackend().create();
    test1 = await openTestPlatform({ database });
    const documented = [...routes(), healthRoute(test1.platform)];
    const service = {
      title: 'Things',
      description: 'Of all kinds.',
      version: '1',
      url: () => 'http://x',
      errors: shape,
      routes: documented,
    };
    app = await createApp({
      service: 'things',
      platform: test1.platform,
      errors: shape,
      api: [...documented, ...documentationRoutes(service, '/style.css')],
    });
    url = `http://127.0.0.1:${await listen(app, { host: '127.0.0.1', port: 0, service: 'things', portSetting: 'X_PORT' })}/api`;
  });
  afterAll(async () => {
    await app.close();
    await test1.platform.close();
    await database.remove();
  });

  const make = (path: string, body: string, type = 'application/json') =>
    fetch(url + path, { method: 'POST', headers: { 'content-type': type }, body });

  test.each<[number, string, string, string, string]>([
    [404, 'NOT_FOUND', '/nothing', '{}', 'application/json'],
    [404, 'NOT_FOUND', '/things/x', '{"name":"a"}', 'application/json'],
    [415, 'UNSUPPORTED_MEDIA_TYPE', '/things/t1', 'x', 'text/plain'],
    [413, 'PAYLOAD_TOO_LARGE', '/things/t1', `{"name":"${'a'.repeat(70_000)}"}`, 'application/json'],
    [400, 'BAD_REQUEST', '/things/t1', '{"name":', 'application/json'],
    [400, 'BAD_REQUEST', '/things/t1', '{"name":""}', 'application/json'],
    [400, 'BAD_REQUEST', '/things/t1?color=green', '{"name":"a"}', 'application/json'],
    [409, 'THING_TAKEN', '/things/t1', '{"name":"taken"}', 'application/json'],
    [500, 'INTERNAL', '/things/t1', '{"name":"boom"}', 'application/json'],
    [503, 'UNAVAILABLE', '/things/t1', '{"name":"deadlock"}', 'application/json'],
  ])('answers %i %s for %s', async (status, code, path, body, type) => {
    const response = await make(path, body, type);
    expect(response.status).toBe(status);
    const text = await response.text();
    expect(JSON.parse(text)).toEqual(expected(code, status));
    expect(text).not.toContain('thing.ts');
  });

  test('answers 405 with the methods there are', async () => {
    const response = await fetch(`${url}/things/t1`);
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'POST']);
    expect(await response.json()).toEqual(expected('METHOD_NOT_ALLOWED', 405));
  });

  test('writes replies by their schema: nothing undeclared gets out', async () => {
    expect(await (await make('/things/t1', '{"name":"a"}')).json()).toEqual({ id: 't1', at: null });
  });

  test('answers 429 once the window is full', async () => {
    await make('/things/t1', '{"name":"b"}');
    const response = await make('/things/t1', '{"name":"c"}');
    expect(response.status).toBe(429);
    expect(response.headers.get('retry-after')).toBe('60');
    expect(await response.json()).toEqual(expected('RATE_LIMITED', 429));
  });

  test('documents itself as valid OpenAPI 3.1', async () => {
    const document = await (await fetch(`${url}/openapi.json`)).json();
    expect(document.openapi).toMatch(/^3\.1/);
    const result = await new Validator().validate(document);
    expect(result.errors ?? []).toEqual([]);
    expect(Object.keys(document.paths)).toEqual(['/things/{id}', '/health']);
    expect(Object.keys(document.paths['/things/{id}'].post.responses).sort()).toEqual([
      '201',
      '400',
      '409',
      '413',
      '415',
      '429',
      '500',
      '503',
    ]);
  });

  test('the reference page loads nothing but its style sheet, and answers If-None-Match', async () => {
    const page = await fetch(`${url}/docs`);
    const html = await page.text();
    expect(html).toContain('Make a thing');
    expect([...html.matchAll(/(?:src|href)="(https?:[^"]+)"/g)]).toEqual([]);
    expect(html).not.toMatch(/<script|style="/);
    const again = await fetch(`${url}/docs`, {
      headers: { 'if-none-match': page.headers.get('etag') ?? '' },
    });
    expect(again.status).toBe(304);
  });
});
