// `svc deliveries` and `svc webhooks`, as an operator uses them beside a running server.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withLease } from '../../src/platform/lease.ts';
import { fastestBackend, type TestDatabase } from '../support/databases.ts';
import { type Furnished, furnish, type Json } from '../support/kanban-server.ts';
import { answer, type Receiver, startReceiver } from '../support/receiver.ts';
import { runSvc } from '../support/run-svc.ts';
import { type ServedSvc, serveSvc, until } from '../support/serve.ts';
import { openTestPlatform, TEST_SECRET, TestClock } from '../support/test-platform.ts';

let database: TestDatabase;
let env: Record<string, string>;
let served: ServedSvc;
let receiver: Receiver;
let home: Furnished;
let webhookId: string;
beforeAll(async () => {
  [database, receiver] = await Promise.all([fastestBackend().create(), startReceiver()]);
  env = { ...database.settings, SVC_SECRET: TEST_SECRET, WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' };
  served = await serveSvc({ env, args: ['--only', 'kanban'] });
  home = await furnish({ url: served.kanbanUrl });
  receiver.react(answer(404));
  const { body } = await home.owner.post(`/boards/${home.boardId}/webhooks`, { url: `${receiver.url}/hook` });
  webhookId = body.id;
  await home.owner.patch(`/cards/${home.cardId}`, { completed: true });
  await until(async () => (await list('--status', 'failed')).length === 2);
});
afterAll(async () => {
  await served.end('SIGTERM');
  await Promise.all([receiver.close(), database.remove()]);
});

const svc = (...args: string[]) => runSvc(args, { env });
const lines = (stdout: string): Json[] =>
  stdout
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
const list = async (...filters: string[]) =>
  lines((await svc('deliveries', 'list', '--json', ...filters)).stdout);

test('list and show say what was sent where, and what came back', async () => {
  const [newest, oldest] = await list('--webhook', webhookId);
  expect(newest).toMatchObject({ verb: 'CARD_COMPLETED', status: 'failed', attempts: [{ status: 404 }] });
  expect(await list('--webhook', webhookId, '--older-than', '1h')).toEqual([]);
  expect(await list('--board', 'cnobody')).toEqual([]);
  const shown = await svc('deliveries', 'show', oldest.id);
  expect(shown).toMatchObject({ code: 0, stdout: expect.stringContaining('verb     WEBHOOK_CREATED') });
  expect(shown.stdout).toContain(`to       ${receiver.url}/hook`);
  expect(await svc('deliveries', 'show', '01NOBODY')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no delivery 01NOBODY'),
  });
});

const sizeOf = (deliveries: Json[]) => deliveries.reduce((sum, { body }) => sum + Buffer.byteLength(body), 0);
const DATE = String.raw`\d{4}-\d\d-\d\dT[\d:.]+Z`;

test('requeue plans, refuses to guess, and delivers again', async () => {
  receiver.react(answer(204));
  expect(await svc('deliveries', 'requeue')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--all'),
  });
  expect(await svc('deliveries', 'requeue', '--all', '--dry-run')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(
      `^would re-queue 2 deliveries, \\d+ bytes, made between ${DATE} and ${DATE}\n$`,
    ),
  });
  expect((await svc('deliveries', 'requeue', '--all')).code).toBe(2);
  const [{ id }] = await list();
  // A name that comes twice is meant once.
  expect(await svc('deliveries', 'requeue', id, id)).toMatchObject({
    code: 0,
    stdout: 're-queued 1 delivery\n',
    stderr: '',
  });
  await until(async () => (await list('--status', 'delivered')).length === 1);
  const done = await svc('deliveries', 'requeue', '--all', '--yes', '--json');
  expect(lines(done.stdout)).toEqual([
    { event: 'result', deliveries: 1, complete: true, durationMs: expect.any(Number) },
  ]);
  await until(async () => (await list('--status', 'delivered')).length === 2);
});

test('a dry run of requeue plans what requeue does, in one form: nothing, for what is pending', async () => {
  await home.owner.patch(`/webhooks/${webhookId}`, { enabled: false });
  const [pending] = await list('--status', 'delivered');
  expect((await svc('deliveries', 'requeue', pending.id)).code).toBe(0);
  const planned = async (...args: string[]) =>
    lines((await svc('deliveries', 'requeue', '--dry-run', '--json', ...args)).stdout);
  const nothing = { dryRun: true, deliveries: 0, bodyBytes: 0, oldest: null, newest: null };
  expect(await planned('--status', 'pending')).toEqual([nothing]);
  expect(await planned(pending.id, pending.id)).toEqual([nothing]);
  expect(await svc('deliveries', 'requeue', '--status', 'pending')).toMatchObject({
    code: 0,
    stdout: 're-queued 0 deliveries\n',
  });
  expect(await svc('deliveries', 'requeue', pending.id, pending.id)).toMatchObject({
    code: 0,
    stdout: 're-queued 0 deliveries\n',
    stderr: '1 delivery pending already\n',
  });

  const delivered = await list('--status', 'delivered');
  const [plan] = await planned('--status', 'delivered');
  expect(plan).toEqual({
    dryRun: true,
    deliveries: delivered.length,
    bodyBytes: sizeOf(delivered),
    oldest: delivered.at(-1).createdAt,
    newest: delivered[0].createdAt,
  });
  expect(await planned(pending.id, ...delivered.map(({ id }) => id))).toEqual([plan]);
  expect(await list('--status', 'delivered')).toEqual(delivered);
  await home.owner.patch(`/webhooks/${webhookId}`, { enabled: true });
  await until(async () => (await list('--status', 'pending')).length === 0);
});

test('who finds another at it is told who holds the lock', async () => {
  const clock = new TestClock(new Date().toISOString());
  const { platform } = await openTestPlatform({ database, role: 'command', clock });
  for (const [name, ...args] of [
    ['purge-deliveries', 'purge', '--all', '--yes'],
    ['requeue-deliveries', 'requeue', '--all', '--yes'],
  ] as const) {
    await withLease(platform, { name, command: 'another operator' }, async () => {
      expect(await svc('deliveries', ...args)).toMatchObject({
        code: 11,
        stdout: '',
        stderr: expect.stringContaining('another operator (process'),
      });
      // A plan takes nothing.
      expect(await svc('deliveries', ...args, '--dry-run')).toMatchObject({ code: 0 });
    });
  }
  await platform.close();
});

test('webhooks are listed, and tested with a signed message that is not kept', async () => {
  const { stdout } = await svc('webhooks', 'list', '--json');
  expect(lines(stdout)).toMatchObject([
    { id: webhookId, url: `${receiver.url}/hook`, enabled: true, dead: 0 },
  ]);
  receiver.react(answer(204));
  const before = (await list()).length;
  expect(await svc('webhooks', 'test', webhookId)).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/\/hook 204 in \d+ ms\n$/),
  });
  expect(receiver.received.at(-1)?.headers).toMatchObject({
    'x-app-event': 'WEBHOOK_TEST',
    'x-app-signature': expect.stringMatching(/^t=\d+,v1=[0-9a-f]{64}$/),
  });
  receiver.react(answer(500));
  expect(await svc('webhooks', 'test', webhookId)).toMatchObject({ code: 1 });
  expect(await svc('webhooks', 'test', 'cnobody')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('there is no webhook cnobody'),
  });
  expect(await list()).toHaveLength(before);
});

test('purge removes what has ended, and never what is pending', async () => {
  expect(await svc('deliveries', 'purge')).toMatchObject({ code: 2 });
  expect(await svc('deliveries', 'purge', '--status', 'pending', '--yes')).toMatchObject({ code: 2 });
  const all = await list();
  const [count, size] = [all.length, sizeOf(all)];
  expect(await svc('deliveries', 'purge', '--status', 'delivered', '--dry-run')).toMatchObject({
    stdout: expect.stringMatching(
      `^would remove ${count} deliveries, ${size} bytes, made between ${DATE} and ${DATE}\n$`,
    ),
  });
  expect(lines((await svc('deliveries', 'purge', '--all', '--dry-run', '--json')).stdout)).toMatchObject([
    {
      dryRun: true,
      deliveries: count,
      bodyBytes: size,
      oldest: expect.any(String),
      newest: expect.any(String),
    },
  ]);
  expect(await svc('deliveries', 'purge', '--all')).toMatchObject({
    code: 2,
    stderr: expect.stringContaining(`To be removed: ${count} deliveries, ${size} bytes`),
  });
  expect(await svc('deliveries', 'purge', '--all', '--yes')).toMatchObject({
    stdout: expect.stringMatching(`^removed ${count} deliveries, ${size} bytes, in [\\d.]+ s\n$`),
  });
  expect(await list()).toEqual([]);
});
