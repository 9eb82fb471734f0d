// Lists in pages: cursors of every kind, and pages that end where their text would get too large.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { z } from 'zod';
import type { Route } from '../../../src/server/http/route.ts';
import { PAGE_BYTES } from '../../../src/services/kanban/pages.ts';
import {
  call,
  furnish,
  type Json,
  type KanbanServer,
  type Person,
  routesOf,
  sealed,
  signIn,
  startKanbanServer,
} from '../../support/kanban-server.ts';
import { createWorld, pathTo, type World } from '../../support/kanban-world.ts';

let server: KanbanServer;
let world: World;
let lists: Route[];
beforeAll(async () => {
  server = await startKanbanServer();
  lists = (await routesOf(server)).filter(
    ({ query }) => query instanceof z.ZodObject && 'cursor' in query.shape,
  );
  world = await createWorld(server);
});
afterAll(() => server.close());

const cursorOf = (key: unknown) => Buffer.from(JSON.stringify(key)).toString('base64url');

/** Every item of a list, and how many each page had. */
async function readAll(person: Person, path: string): Promise<{ items: Json[]; sizes: number[] }> {
  const items: Json[] = [];
  const sizes: number[] = [];
  let cursor = '';
  do {
    const { body } = await person.get(`${path}${path.includes('?') ? '&' : '?'}${cursor}`);
    items.push(...body.items);
    sizes.push(body.items.length);
    cursor = body.nextCursor === null ? '' : `cursor=${body.nextCursor}`;
  } while (cursor !== '');
  return { items, sizes };
}

test('a cursor of another list, or of none, is an answer or a refusal in every list', async () => {
  expect(lists.length).toBeGreaterThan(15);
  const own = [
    ['x'],
    ['x', 'y'],
    ['x', 'y', 'z'],
    [''],
    ['', ''],
    ['0000-00-00T99:99:99.999Z', 'y'],
    ['2027-02-31T00:00:00.000Z', 'y'],
    ['+275760-09-13T00:00:00.000Z', 'y'],
    ['infinity', 'y'],
    ['9223372036854775808'],
    ['-1'],
    ['NaN'],
    ['\0', 'y'],
    ['\ud800'],
    [1],
    [1, 2],
    [null, null, null],
    [['x']],
    { length: 1 },
    'x',
    7,
    null,
    [world.cardId],
    ['2027-01-31T00:00:00.000Z', world.owner.id],
    [world.columnId, 'a0', world.cardId],
  ];
  const cursors = [...own.map(cursorOf), 'x', '%00', '-', cursorOf(['x']).slice(1), '', 'a'.repeat(1025)];
  for (const route of lists) {
    const path = pathTo(route, world.ids);
    for (const cursor of cursors) {
      const { status, body } = await world.owner.get(`${path}?cursor=${cursor}`);
      const what = `${path} ${cursor} ${JSON.stringify(body?.error)}`;
      expect([200, 400], what).toContain(status);
      if (status === 400) expect(body.error.details, what).toHaveProperty('cursor');
    }
  }
  for (const [path, key] of [
    [`/workspaces/${world.workspaceId}/members`, ['x', 'y']],
    [`/boards/${world.boardId}/activity`, ['x']],
  ] as const) {
    expect((await world.owner.get(`${path}?cursor=${cursorOf(key)}`)).status).toBe(400);
  }
});

test('every list goes on where the page before ended', async () => {
  const home = await createWorld(server);
  for (const route of lists) {
    const path = pathTo(route, home.ids);
    const whole = await home.owner.get(`${path}?limit=1000`);
    const piecemeal = await readAll(home.owner, `${path}?limit=1`);
    expect(piecemeal.items, path).toEqual(whole.body.items);
    expect(
      piecemeal.sizes.every((size) => size <= 1),
      path,
    ).toBe(true);
  }
});

test('sessions and credentials come in pages', async () => {
  const { owner } = await furnish(server);
  const headers = { cookie: await signIn(server, owner) };
  await signIn(server, owner);
  const whole = await call(server, { path: '/me/sessions', headers });
  expect(whole.body).toMatchObject({ items: [{}, { current: true }, {}], nextCursor: null });
  const first = await call(server, { path: '/me/sessions?limit=2', headers });
  expect(first.body.items).toEqual(whole.body.items.slice(0, 2));
  const second = await call(server, {
    path: `/me/sessions?limit=2&cursor=${first.body.nextCursor}`,
    headers,
  });
  expect(second.body).toEqual({ items: whole.body.items.slice(2), nextCursor: null });

  const credentials = ['a', 'b', 'c'].map((name) => ({
    id: `c${name.repeat(24)}`,
    accountId: owner.id,
    credentialId: `${owner.id} ${name}`,
    publicKey: Buffer.alloc(1),
    counter: 0,
    transports: [],
    createdAt: new Date(0),
  }));
  await server.platform.database.insertInto('webauthnCredential').values(credentials).execute();
  const { items, sizes } = await readAll(owner, '/auth/webauthn?limit=2');
  expect(items.map(({ id }) => id)).toEqual(credentials.map(({ id }) => id));
  expect(sizes).toEqual([2, 1]);
});

test('a page ends where its text gets too large, and the next one goes on from there', async () => {
  const { owner, workspaceId, boardId, cardId } = await furnish(server);
  const { database } = server.platform;
  const now = new Date(0);
  const numbered = (count: number) => Array.from({ length: count }, (_, index) => `cz${index + 1000}`);
  const text = (characters: number) => `v1.a.${'b'.repeat(characters - 5)}`;
  const moments = { createdAt: now, updatedAt: now };
  const ofBoard = { boardId, createdAt: now };
  await database
    .insertInto('board')
    .values(
      numbered(18).map((id) => ({
        id: `${id}${boardId}`,
        workspaceId,
        encName: sealed('b'),
        encDescription: text(1_048_576),
        ...moments,
      })),
    )
    .execute();
  await sqlKeys(numbered(18).map((id) => `${id}${boardId}`));
  const workspaces = numbered(70).map((id) => ({ id: `${id}${workspaceId}`, encName: text(65_536) }));
  await database
    .insertInto('workspace')
    .values(workspaces.map((workspace) => ({ ...workspace, keyEpoch: 1, ...moments })))
    .execute();
  await database
    .insertInto('workspaceMember')
    .values(
      workspaces.map(({ id }) => ({
        workspaceId: id,
        accountId: owner.id,
        role: 'owner' as const,
        encWorkspaceKey: text(65_536),
        joinedAt: now,
      })),
    )
    .execute();
  await database
    .insertInto('comment')
    .values(
      numbered(260).map((id) => ({
        id: `${id}${cardId}`,
        cardId,
        encBody: text(65_536),
        mentions: [],
        authorId: null,
        ...ofBoard,
        updatedAt: now,
      })),
    )
    .execute();
  await database
    .insertInto('cardTemplate')
    .values(
      numbered(130).map((id) => ({
        id: `${id}${boardId}`,
        encName: text(65_536),
        encContent: text(65_536),
        ...ofBoard,
      })),
    )
    .execute();
  await database
    .insertInto('attachment')
    .values(
      numbered(140).map((id) => ({
        id: `${id}${cardId}`,
        cardId,
        uploaderId: null,
        encName: text(65_536),
        encContent: text(100),
        sizeBytes: 1,
        ...ofBoard,
      })),
    )
    .execute();
  // The second list alone is larger than a page: it comes by itself.
  const checklists = ['a', 'b', 'c'].map((position) => ({ id: `cz${position}${cardId}`, position }));
  await database
    .insertInto('checklist')
    .values(
      checklists.map((list) => ({ ...list, cardId, encTitle: sealed('l'), ...ofBoard, updatedAt: now })),
    )
    .execute();
  await database
    .insertInto('checklistItem')
    .values(
      checklists.flatMap(({ id: checklistId, position: list }) =>
        numbered(list === 'b' ? 130 : 2).map((position) => ({
          id: `${position}${list}${cardId}`,
          cardId,
          checklistId,
          encText: text(65_536),
          position,
          assigneeId: null,
          dueAt: null,
          ...ofBoard,
          updatedAt: now,
        })),
      ),
    )
    .execute();

  const expected: Array<[string, number[]]> = [
    [`/workspaces/${workspaceId}/boards`, [8, 7, 4]],
    [`/cards/${cardId}/comments?limit=1000`, [128, 128, 4]],
    [`/cards/${cardId}/comments?limit=100`, [100, 100, 60]],
    [`/boards/${boardId}/card-templates`, [64, 64, 2]],
    ['/workspaces', [64, 7]],
    [`/cards/${cardId}/attachments?limit=1000`, [128, 12]],
    [`/cards/${cardId}/checklists`, [1, 1, 1]],
  ];
  for (const [path, sizes] of expected) {
    const read = await readAll(owner, path);
    expect({ path, sizes: read.sizes }).toEqual({ path, sizes });
    expect(new Set(read.items.map(({ id }) => id)).size).toBe(read.items.length);
  }
  expect(PAGE_BYTES).toBe(8 * 1024 * 1024);
  // A board that is read comes with as much of each kind as a page holds.
  expect((await owner.get(`/boards/${boardId}`)).status).toBe(200);

  async function sqlKeys(boardIds: string[]): Promise<void> {
    await database
      .insertInto('boardKey')
      .values(boardIds.map((id) => ({ boardId: id, epoch: 1, encBoardKey: sealed('k') })))
      .execute();
  }
});
