// Workspaces: who may do what, who is in, whose keys.
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  furnish,
  invite,
  type Json,
  join,
  type KanbanServer,
  sealed,
  startKanbanServer,
} from '../../support/kanban-server.ts';

let server: KanbanServer;
beforeAll(async () => {
  server = await startKanbanServer();
});
afterAll(() => server.close());

test('roles: members work on boards, admins keep people and webhooks, owners the workspace', async () => {
  const home = await furnish(server);
  const { owner, workspaceId, boardId } = home;
  const [member, admin, third] = [
    await invite(server, home),
    await invite(server, home, 'admin'),
    await join(server),
  ];
  const members = `/workspaces/${workspaceId}/members`;
  const invitation = { userId: third.id, encWorkspaceKey: sealed('key') };
  expect((await member.patch(`/workspaces/${workspaceId}`, { encName: sealed('x') })).status).toBe(403);
  expect((await member.post(members, invitation)).body.error.code).toBe('FORBIDDEN');
  expect((await member.delete(`${members}/${admin.id}`)).status).toBe(403);
  expect((await member.delete(`/boards/${boardId}`)).status).toBe(403);
  expect((await admin.post(members, invitation)).body).toMatchObject({
    userId: third.id,
    email: third.email,
    role: 'member',
  });
  expect((await admin.post(members, invitation)).status).toBe(409);
  expect((await admin.post(members, { ...invitation, userId: `c${'0'.repeat(24)}` })).status).toBe(400);
  expect((await admin.patch(`${members}/${third.id}`, { role: 'admin' })).status).toBe(403);
  expect((await admin.delete(`${members}/${owner.id}`)).status).toBe(403);
  expect((await admin.delete(`/workspaces/${workspaceId}`)).status).toBe(403);
  expect((await owner.patch(`${members}/${owner.id}`, { role: 'member' })).status).toBe(409);
  expect((await owner.delete(`${members}/${owner.id}`)).status).toBe(409);
  expect((await owner.patch(`${members}/${admin.id}`, { role: 'owner' })).body.role).toBe('owner');
  expect((await owner.delete(`${members}/${owner.id}`)).status).toBe(204);
  expect((await owner.get(`/workspaces/${workspaceId}`)).status).toBe(404);
  expect((await admin.get(members)).body.items.map(({ userId }: Json) => userId)).toEqual([
    member.id,
    admin.id,
    third.id,
  ]);
});

test('comments are changed by their author, deleted by their author or an admin', async () => {
  const home = await furnish(server);
  const { owner, cardId } = home;
  const [author, other] = [await invite(server, home), await invite(server, home)];
  const { body: comment } = await author.post(`/cards/${cardId}/comments`, { encBody: sealed('c') });
  for (const person of [owner, other]) {
    expect((await person.patch(`/comments/${comment.id}`, { encBody: sealed('d') })).status).toBe(403);
  }
  expect((await author.patch(`/comments/${comment.id}`, { encBody: sealed('d') })).body.encBody).toBe(
    sealed('d'),
  );
  expect((await other.delete(`/comments/${comment.id}`)).status).toBe(403);
  expect((await owner.delete(`/comments/${comment.id}`)).status).toBe(204);
});

test('who is removed loses assignments with the access, and the keys are due', async () => {
  const home = await furnish(server);
  const { owner, workspaceId, cardId } = home;
  const member = await invite(server, home);
  await owner.post(`/cards/${cardId}/assignments`, { userId: member.id });
  await owner.delete(`/workspaces/${workspaceId}/members/${member.id}`);
  expect((await owner.get(`/cards/${cardId}`)).body.assigneeIds).toEqual([]);
  expect((await member.get('/me/notifications')).body.items).toEqual([]);
  expect((await owner.get(`/workspaces/${workspaceId}`)).body.rotationDue).toBe(true);
});

test('keys are replaced all together, exactly those that exist, one epoch on', async () => {
  const home = await furnish(server);
  const { owner, workspaceId, boardId } = home;
  const member = await invite(server, home);
  const path = `/workspaces/${workspaceId}/keys`;
  const keyFor = ({ id }: { id: string }) => ({ userId: id, encWorkspaceKey: sealed(`new for ${id}`) });
  const encBoardKeys = [
    { epoch: 1, encBoardKey: sealed('old, wrapped anew') },
    { epoch: 2, encBoardKey: sealed('new') },
  ];
  const right = { epoch: 2, members: [keyFor(owner), keyFor(member)], boards: [{ boardId, encBoardKeys }] };
  for (const wrong of [
    { ...right, epoch: 1 },
    { ...right, epoch: 3 },
    { ...right, members: [keyFor(owner)] },
    { ...right, members: [...right.members, keyFor(member)] },
    { ...right, boards: [] },
    { ...right, boards: [{ boardId, encBoardKeys: encBoardKeys.slice(1) }] },
  ]) {
    expect((await owner.post(path, wrong)).body.error.code).toBe('CONFLICT');
  }
  expect((await member.post(path, right)).status).toBe(403);
  const racing = await Promise.all([owner.post(path, right), owner.post(path, right)]);
  expect(racing.map(({ status }) => status).sort()).toEqual([200, 409]);
  expect((await member.get(`/workspaces/${workspaceId}`)).body).toMatchObject({
    keyEpoch: 2,
    rotationDue: false,
    encWorkspaceKey: sealed(`new for ${member.id}`),
  });
  expect((await owner.get(`/boards/${boardId}`)).body).toMatchObject({
    encBoardKey: sealed('new'),
    encBoardKeys,
  });
});

test('what is wrapped under a key that was replaced is refused, when the body says which', async () => {
  const { owner, workspaceId, boardId } = await furnish(server);
  const path = `/workspaces/${workspaceId}`;
  const guest = await join(server);
  const board = { encName: sealed('b'), encBoardKey: sealed('k') };
  const invitation = { userId: guest.id, encWorkspaceKey: sealed('k') };
  const rotated = await owner.post(`${path}/keys`, {
    epoch: 2,
    encName: sealed('under the new key'),
    members: [{ userId: owner.id, encWorkspaceKey: sealed('k') }],
    boards: [{ boardId, encBoardKeys: [{ epoch: 1, encBoardKey: sealed('k') }] }],
  });
  expect(rotated.body).toMatchObject({ keyEpoch: 2, encName: sealed('under the new key') });
  for (const keyEpoch of [1, 3]) {
    expect((await owner.post(`${path}/boards`, { ...board, keyEpoch })).body.error.code).toBe('CONFLICT');
    expect((await owner.post(`${path}/members`, { ...invitation, keyEpoch })).body.error.code).toBe(
      'CONFLICT',
    );
  }
  expect((await owner.get(`${path}/boards`)).body.items).toHaveLength(1);
  expect((await owner.get(`${path}/members`)).body.items).toHaveLength(1);
  const made = await owner.post(`${path}/boards`, { ...board, keyEpoch: 2 });
  expect(made.body.encBoardKeys).toEqual([{ epoch: 2, encBoardKey: sealed('k') }]);
  expect((await owner.post(`${path}/members`, { ...invitation, keyEpoch: 2 })).status).toBe(201);
  expect((await owner.post(`${path}/boards`, board)).status).toBe(201);
});

test('limits: changes of cards in one window, other writes in another, reads in a third', async () => {
  const limited = await startKanbanServer({
    settings: {
      KANBAN_RATE_LIMIT_MUTATIONS_PER_MINUTE: '5',
      KANBAN_RATE_LIMIT_WRITES_PER_MINUTE: '4',
      KANBAN_RATE_LIMIT_READS_PER_MINUTE: '3',
    },
  });
  const { owner, boardId, cardId } = await furnish(limited);
  expect((await owner.patch(`/cards/${cardId}`, {})).headers.get('x-ratelimit-remaining')).toBe('1');
  expect((await owner.patch(`/boards/${boardId}`, {})).status).toBe(200);
  const refused = await owner.patch(`/cards/${cardId}`, {});
  expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED' } } });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  for (const expected of [201, 201, 201, 429]) {
    expect((await owner.post(`/cards/${cardId}/comments`, { encBody: sealed('c') })).status).toBe(expected);
  }
  for (const expected of [200, 200, 200, 429])
    expect((await owner.get(`/cards/${cardId}`)).status).toBe(expected);
  await limited.close();
});
