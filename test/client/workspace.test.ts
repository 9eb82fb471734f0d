// The client's workspaces against a server: several people hold a workspace open while its keys are replaced.
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Account } from '../../src/client/account.ts';
import { createTransport } from '../../src/client/http.ts';
import * as kanban from '../../src/client/index.ts';
import { encrypt, newKey, newKeyPair, ready, toBase64 } from '../../src/client/primitives.ts';
import {
  call,
  type KanbanServer,
  registration,
  signIn,
  startKanbanServer,
} from '../support/kanban-server.ts';

let server: KanbanServer;
/** Requests that get lost on their way: by method and path. */
let lost: RegExp | undefined;
beforeAll(async () => {
  await ready();
  server = await startKanbanServer();
});
afterAll(() => server.close());

/** Somebody who is signed in, without the hard work of a password. */
async function aPerson(name: string): Promise<Account> {
  const email = `${name}-${Math.random()}@example.org`;
  const keys = newKeyPair();
  const account = { ...registration(email), publicKey: toBase64(keys.publicKey) };
  const { body } = await call(server, { method: 'POST', path: '/auth/register', json: account });
  const cookie = await signIn(server, account);
  const transport = createTransport({
    url: server.url,
    fetch: async (input, init) => {
      if (lost?.test(`${init?.method} ${input}`)) throw new Error('lost on the way');
      return fetch(input, { ...init, headers: { ...init?.headers, cookie } });
    },
  });
  return { transport, userId: body.user.id, email, keys };
}

/** A workspace of Ada's with Bob and Cleo in it, as Ada and Bob have it open. */
async function aSharedWorkspace() {
  const [ada, bob, cleo] = [await aPerson('ada'), await aPerson('bob'), await aPerson('cleo')];
  const adas = await kanban.createWorkspace(ada, 'shared');
  for (const { userId, keys } of [bob, cleo]) await kanban.invite(ada, adas, { id: userId, ...keys });
  const bobs = await kanban.openWorkspace(bob, adas.id);
  return { ada, bob, cleo, adas, bobs };
}

test('who has a workspace open while its keys change creates boards that everybody opens', async () => {
  const { ada, bob, cleo, adas, bobs } = await aSharedWorkspace();
  const rotated = await kanban.removeMember(ada, adas, cleo.userId);
  const board = await kanban.createBoard(bob, bobs, 'made from the old handle');
  expect([...board.keys.keys()]).toEqual([2]);
  expect((await kanban.listBoards(ada, rotated)).map(({ name }) => name)).toEqual([
    'made from the old handle',
  ]);
  expect((await kanban.openBoard(ada, rotated, board.id)).keys).toEqual(board.keys);
  expect(await kanban.rotateKeys(ada, rotated)).toMatchObject({ keyEpoch: 3 });
});

test('who has a workspace open while its keys change lets people in under the new ones', async () => {
  const { ada, bob, cleo, adas } = await aSharedWorkspace();
  const rotated = await kanban.removeMember(ada, adas, cleo.userId);
  const dora = await aPerson('dora');
  await kanban.invite(ada, adas, { id: dora.userId, ...dora.keys });
  expect((await kanban.openWorkspace(dora, adas.id)).key).toEqual(rotated.key);
  // A conflict of another kind stays one.
  await expect(kanban.invite(ada, rotated, { id: bob.userId, ...bob.keys })).rejects.toMatchObject({
    code: 'CONFLICT',
  });
});

test('keys and name are replaced by one request: none that is lost leaves them apart', async () => {
  const { ada, bob, adas } = await aSharedWorkspace();
  lost = /^PATCH /;
  const rotated = await kanban.rotateKeys(ada, adas).finally(() => {
    lost = undefined;
  });
  expect(rotated).toMatchObject({ name: 'shared', keyEpoch: 2 });
  expect(await kanban.openWorkspace(bob, adas.id)).toMatchObject({ name: 'shared', key: rotated.key });
});

test('a workspace with a name that its key does not open is opened without', async () => {
  const { ada, adas } = await aSharedWorkspace();
  const board = await kanban.createBoard(ada, adas, 'board');
  const encName = encrypt(newKey(), new TextEncoder().encode('whatever'), 'workspace.name');
  await ada.transport.call('PATCH', `/workspaces/${adas.id}`, { encName });
  const opened = await kanban.openWorkspace(ada, adas.id);
  expect(opened.name).toBeUndefined();
  const rotated = await kanban.rotateKeys(ada, opened);
  expect(rotated.name).toBeUndefined();
  expect((await kanban.openBoard(ada, rotated, board.id)).name).toBe('board');
});
