// Bodies, and who may make us hold one: nobody whom a guard refuses, and all together not more than there is room for.
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { createLog } from '../../../src/platform/log.ts';
import { Overloaded } from '../../../src/platform/overloaded.ts';
import { createApp } from '../../../src/server/http/app.ts';
import type { BodyBudget } from '../../../src/server/http/body-budget.ts';
import { nestedErrors } from '../../../src/server/http/error-shapes.ts';
import { HttpError } from '../../../src/server/http/errors.ts';
import { listen } from '../../../src/server/http/listen.ts';
import { defineRoute } from '../../../src/server/http/route.ts';
import { fastestBackend, type TestDatabase } from '../../support/databases.ts';
import { until } from '../../support/serve.ts';
import { openTestPlatform, type TestPlatform } from '../../support/test-platform.ts';

const MEBIBYTE = 1_048_576;
const MOST = 4 * MEBIBYTE;

let database: TestDatabase;
let opened: TestPlatform;
let app: FastifyInstance;
let url: string;
const budget: BodyBudget = { heldBytes: 0, mostBytes: 5 * MEBIBYTE };
const logged: Array<Record<string, unknown>> = [];

const keepThing = defineRoute({
  method: 'POST',
  path: '/things',
  operationId: 'keepThing',
  summary: 'Keep a thing',
  body: z.object({ content: z.string() }),
  bodyLimitBytes: MOST,
  replies: { 201: { description: 'Kept.', schema: z.object({ who: z.string(), length: z.int() }) } },
  guard: async ({ headers }) => {
    if (headers.cookie === undefined) throw new HttpError('UNAUTHENTICATED', 'Sign in first.');
    if (headers.cookie === 'busy') throw new Overloaded('everybody comes at once');
    return headers.cookie;
  },
  handler: async ({ body, principal }) => ({
    status: 201,
    body: { who: String(principal), length: body.content.length },
  }),
});

beforeAll(async () => {
  database = await fastestBackend().create();
  opened = await openTestPlatform({ database });
  const destination = { write: (line: string) => logged.push(JSON.parse(line)) };
  const log = await createLog({ level: 'warn', format: 'json', destination });
  app = await createApp({
    service: 'things',
    platform: { ...opened.platform, log },
    errors: nestedErrors,
    api: [keepThing],
    bodyBudget: budget,
  });
  url = `http://127.0.0.1:${await listen(app, { host: '127.0.0.1', port: 0, service: 'things', portSetting: 'X_PORT' })}/api/things`;
});
afterAll(async () => {
  await app.close();
  await opened.platform.close();
  await database.remove();
});

interface Upload {
  request: ClientRequest;
  /** Code of the answer, 201 where there is none. */
  answer: Promise<{ status: number; code: string | number }>;
}

/** Begins an upload: headers, and nothing of the body yet. */
function begin(headers: Record<string, string | number>): Upload {
  const upload = request(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    agent: false,
  });
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    upload.on('response', resolve).on('error', reject);
  }).then(async (response) => {
    const body = JSON.parse(await text(response));
    return { status: response.statusCode ?? 0, code: body.error?.code ?? body.length };
  });
  upload.flushHeaders();
  return { request: upload, answer };
}

/** A body of so many bytes. */
function bodyOf(sizeBytes: number): Buffer {
  return Buffer.from(JSON.stringify({ content: 'x'.repeat(sizeBytes - '{"content":""}'.length) }));
}

const ada = { cookie: 'ada' };

describe('before a byte of a body has come', () => {
  test.each<[number, string, Record<string, string | number>]>([
    [401, 'UNAUTHENTICATED', { 'content-length': MOST }],
    [401, 'UNAUTHENTICATED', { 'transfer-encoding': 'chunked' }],
    [413, 'PAYLOAD_TOO_LARGE', { 'content-length': MOST + 1 }],
    [413, 'PAYLOAD_TOO_LARGE', { 'content-length': MOST + 1, ...ada }],
    [415, 'UNSUPPORTED_MEDIA_TYPE', { 'content-length': MOST + 1, 'content-type': 'text/plain' }],
  ])('%i %s for %j', async (status, code, headers) => {
    const upload = begin(headers);
    expect(await upload.answer).toEqual({ status, code });
    upload.request.destroy();
  });
});

test('who is signed in is known to the handler; a chunked body that grows too large ends in 413', async () => {
  const small = await fetch(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...ada },
    body: bodyOf(100).toString(),
  });
  expect([small.status, await small.json()]).toEqual([201, { who: 'ada', length: 86 }]);
  const upload = begin({ 'transfer-encoding': 'chunked', ...ada });
  upload.request.write(bodyOf(MOST + 1));
  expect((await upload.answer).code).toBe('PAYLOAD_TOO_LARGE');
  upload.request.destroy();
});

describe('of large bodies there is room for so much', () => {
  const sizeBytes = 3 * MEBIBYTE;
  const announced = { 'content-length': sizeBytes, ...ada };
  const whole = bodyOf(sizeBytes);
  const taken = { status: 201, code: sizeBytes - '{"content":""}'.length };
  const busy = { status: 503, code: 'UNAVAILABLE' };

  test('what has no room is refused at once, and taken when there is room again', async () => {
    const first = begin(announced);
    first.request.write(whole.subarray(0, sizeBytes - 1));
    await until(() => budget.heldBytes === sizeBytes - 1);
    const second = begin(announced);
    expect(await second.answer).toEqual(busy);
    second.request.destroy();
    first.request.end(whole.subarray(sizeBytes - 1));
    expect(await first.answer).toEqual(taken);
    await until(() => budget.heldBytes === 0);
    const third = begin(announced);
    third.request.end(whole);
    expect(await third.answer).toEqual(taken);
  });

  test('who only announces takes no room from others, and of those who send one stays', async () => {
    const [first, second] = [begin(announced), begin({ 'transfer-encoding': 'chunked', ...ada })];
    const third = begin(announced);
    third.request.end(whole);
    expect(await third.answer).toEqual(taken);
    first.request.write(whole.subarray(0, sizeBytes - 1));
    await until(() => budget.heldBytes === sizeBytes - 1);
    second.request.write(whole);
    expect(await second.answer).toEqual(busy);
    second.request.destroy();
    first.request.end(whole.subarray(sizeBytes - 1));
    expect(await first.answer).toEqual(taken);
    await until(() => budget.heldBytes === 0);
  });

  test('who goes away gives its room back', async () => {
    const upload = begin(announced);
    upload.answer.catch(() => {});
    upload.request.write(whole.subarray(0, MEBIBYTE));
    await until(() => budget.heldBytes === MEBIBYTE);
    upload.request.destroy();
    await until(() => budget.heldBytes === 0);
  });
});

test('that there is too much to do is a line of the log, and no failure with a stack', async () => {
  logged.length = 0;
  const upload = begin({ 'content-length': 10, cookie: 'busy' });
  expect(await upload.answer).toEqual({ status: 503, code: 'UNAVAILABLE' });
  upload.request.destroy();
  expect(logged).toMatchObject([{ level: 'warn', reason: 'everybody comes at once', path: '/api/things' }]);
  expect(JSON.stringify(logged)).not.toContain('stack');
});
