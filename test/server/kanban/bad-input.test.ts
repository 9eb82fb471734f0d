// Bodies of every wrong kind: whatever comes, the answer is a refusal of the right shape, never a 500, and nothing changes.
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Route } from '../../../src/server/http/route.ts';
import { call, type KanbanServer, routesOf, sealed, startKanbanServer } from '../../support/kanban-server.ts';
import { createWorld, pathTo, type World } from '../../support/kanban-world.ts';

let server: KanbanServer;
let world: World;
let routes: Route[];
beforeAll(async () => {
  server = await startKanbanServer();
  routes = await routesOf(server);
  world = await createWorld(server);
});
afterAll(() => server.close());

const WRONG_CIPHERTEXT = [
  'plaintext',
  '',
  'v1.a',
  'v1..b',
  'v1.a.',
  'v1.a.b.c',
  'v2.a.b',
  'V1.a.b',
  ' v1.a.b',
  'v1.a.b\n',
  'v1.a+b.c',
  'v1.a/b.c',
  'v1.a=.c',
  'v1.ä.b',
  'v1.a.b\0',
  `v1.a.${'b'.repeat(65_536)}`,
  7,
  null,
  true,
  ['v1.a.b'],
  { v1: 'a.b' },
];

test('every encrypted field refuses what is not of its form, and what is too long', async () => {
  const { owner, ids, workspaceId, cardId, columnId, boardId } = world;
  const requests: Array<[string, string, string, Record<string, unknown>]> = [
    ['POST', '/workspaces', 'encName', { encWorkspaceKey: sealed('k') }],
    ['POST', '/workspaces', 'encWorkspaceKey', { encName: sealed('k') }],
    ['PATCH', `/workspaces/${workspaceId}`, 'encName', {}],
    ['POST', `/workspaces/${workspaceId}/boards`, 'encBoardKey', { encName: sealed('n') }],
    ['PATCH', `/boards/${boardId}`, 'encName', {}],
    ['POST', `/boards/${boardId}/columns`, 'encName', {}],
    ['POST', `/columns/${columnId}/cards`, 'encTitle', {}],
    ['PATCH', `/cards/${cardId}`, 'encTitle', {}],
    ['POST', `/boards/${boardId}/labels`, 'encName', { color: '#000000' }],
    ['PATCH', `/labels/${ids.labels}`, 'encName', {}],
    ['POST', `/boards/${boardId}/milestones`, 'encName', {}],
    ['POST', `/boards/${boardId}/card-templates`, 'encName', { encContent: sealed('c') }],
    ['POST', `/boards/${boardId}/card-templates`, 'encContent', { encName: sealed('n') }],
    ['POST', `/boards/${boardId}/custom-fields`, 'encName', { kind: 'text' }],
    ['POST', `/cards/${cardId}/comments`, 'encBody', {}],
    ['POST', `/cards/${cardId}/checklists`, 'encTitle', {}],
    ['POST', `/checklists/${ids.checklists}/items`, 'encText', {}],
    ['POST', `/cards/${cardId}/attachments`, 'encName', { encContent: sealed('c') }],
  ];
  for (const [method, path, field, rest] of requests) {
    for (const value of WRONG_CIPHERTEXT) {
      const answer = await call(server, {
        method,
        path,
        json: { ...rest, [field]: value },
        headers: { cookie: owner.cookie },
      });
      const what = `${method} ${path} ${field} ${JSON.stringify(value).slice(0, 40)}`;
      expect({ what, status: answer.status }).toEqual({ what, status: 400 });
      expect(answer.body.error).toMatchObject({
        code: 'BAD_REQUEST',
        details: { [field]: expect.anything() },
      });
    }
  }
});

test('descriptions may be a mebibyte long, and attachments as long as the setting says', async () => {
  const { owner, cardId } = world;
  const longest = `v1.a.${'b'.repeat(1_048_576 - 5)}`;
  expect((await owner.patch(`/cards/${cardId}`, { encDescription: longest })).status).toBe(200);
  expect((await owner.get(`/cards/${cardId}`)).body.encDescription).toBe(longest);
  expect((await owner.patch(`/cards/${cardId}`, { encDescription: `${longest}b` })).status).toBe(400);
  await owner.patch(`/cards/${cardId}`, { encDescription: null });
  const small = await startKanbanServer({ settings: { ATTACHMENT_MAX_BYTES: '3000' } });
  const home = await createWorld(small);
  const upload = (bytes: number) =>
    home.owner.post(`/cards/${home.cardId}/attachments`, {
      encName: sealed('n'),
      encContent: `v1.a.${Buffer.alloc(bytes, 7).toString('base64url')}`,
    });
  expect((await upload(3000)).body).toMatchObject({ sizeBytes: 3000 });
  for (const bytes of [3001, 3100, 4000, 50_000, 200_000]) {
    expect(await upload(bytes)).toMatchObject({
      status: 413,
      body: { error: { code: 'PAYLOAD_TOO_LARGE' } },
    });
  }
  await small.close();
});

test('no body whatever makes a 500', async () => {
  const json = fc.jsonValue({ maxDepth: 2 });
  const like = fc.oneof(
    { weight: 3, arbitrary: json },
    fc.constantFrom(
      ...WRONG_CIPHERTEXT,
      sealed('x'),
      world.ids.cards,
      world.owner.id,
      '#12345g',
      '2027-01-31T00:00:00Z',
      '+275760-09-13T00:00:00Z',
      '0000-01-01T00:00:00Z',
      1e308,
      -1,
      2 ** 53,
      [],
    ),
  );
  for (const route of routes.filter(({ body, method }) => body && method !== 'DELETE')) {
    const shape = route.body instanceof z.ZodObject ? Object.keys(route.body.shape) : [];
    const bodies = fc.oneof(
      json,
      fc.record(Object.fromEntries(shape.map((field) => [field, like])), { requiredKeys: [] }),
    );
    const path = pathTo(route, { ...world.ids, sessions: world.owner.id, webauthn: world.owner.id });
    await fc.assert(
      fc.asyncProperty(bodies, async (json) => {
        const { status, body } = await call(server, {
          method: route.method,
          path,
          json,
          headers: { cookie: world.owner.cookie },
        });
        if (status >= 500) throw new Error(`${route.method} ${path}: ${status}`);
        if (status >= 400) expect(body.error.code).toMatch(/^[A-Z_]+$/);
      }),
      { numRuns: 25, seed: 20261121 },
    );
  }
});
