// Every route of a workspace with ids of somebody else's: as a stranger, as who was a member, and signed out. Made from
// the table of routes, so that a new route cannot be forgotten.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Route } from '../../../src/server/http/route.ts';
import { embedded } from '../../support/databases.ts';
import {
  type Answer,
  call,
  invite,
  join,
  type KanbanServer,
  type Person,
  routesOf,
  startKanbanServer,
} from '../../support/kanban-server.ts';
import { bodyFor, createWorld, isOfWorkspace, pathTo, type World } from '../../support/kanban-world.ts';

let server: KanbanServer;
let world: World;
let routes: Route[];
let stranger: Person;
let removed: Person;

beforeAll(async () => {
  // Every statement runs on the embedded database too, where there is another: here all routes are tried.
  server = await startKanbanServer({ backend: embedded });
  routes = await routesOf(server);
  world = await createWorld(server);
  // What is pending cannot be re-queued, by its owner either.
  await server.platform.database.updateTable('webhookDelivery').set({ status: 'dead' }).execute();
  stranger = await join(server, 'stranger');
  removed = await invite(server, world);
  await world.owner.delete(`/workspaces/${world.workspaceId}/members/${removed.id}`);
});
afterAll(() => server.close());

const ask = (route: Route, headers: Record<string, string>, ids = world.ids): Promise<Answer> =>
  call(server, { method: route.method, path: pathTo(route, ids), json: bodyFor(route, world), headers });

describe('of what is in a workspace', () => {
  test('nobody outside gets anything but "not found", and nobody signed out gets that far', async () => {
    const before = await world.owner.get(`/boards/${world.boardId}/activity?limit=1000`);
    const concerned = routes.filter(isOfWorkspace);
    expect(concerned.length).toBeGreaterThan(50);
    for (const route of concerned) {
      const what = `${route.method} ${route.path}`;
      for (const { cookie } of [stranger, removed]) {
        const answer = await ask(route, { cookie });
        expect({ what, status: answer.status, body: answer.body }).toEqual({
          what,
          status: 404,
          body: { error: { code: 'NOT_FOUND', message: expect.any(String) } },
        });
      }
      const signedOut = await ask(route, {});
      expect({ what, status: signedOut.status, code: signedOut.body?.error?.code }).toEqual({
        what,
        status: 401,
        code: 'UNAUTHENTICATED',
      });
    }
    expect((await world.owner.get(`/boards/${world.boardId}/activity?limit=1000`)).body).toEqual(before.body);
  });

  test('ids that are malformed, unknown, or of another kind are not found, by its owner either', async () => {
    const { cookie } = world.owner;
    for (const route of routes.filter(isOfWorkspace)) {
      const what = `${route.method} ${route.path}`;
      const segments = route.path.split('/');
      const first = segments[segments.findIndex((segment) => segment.startsWith('{')) - 1] ?? '';
      const others = first === 'workspaces' ? world.ids.cards : world.ids.workspaces;
      for (const id of ['x', `c${'z'.repeat(24)}`, `c${'z'.repeat(80)}`, others ?? '']) {
        const { status } = await ask(route, { cookie }, { ...world.ids, [first]: id });
        expect({ what, id, status }).toEqual({ what, id, status: 404 });
      }
    }
  });

  test('everything works for its owner: the requests above are right but for who makes them', async () => {
    const concerned = routes.filter(isOfWorkspace);
    const depth = ({ path }: Route) =>
      ['workspaces', 'boards', 'columns', 'cards', 'checklists'].indexOf(path.split('/')[1] ?? '');
    const rank = (route: Route) => {
      if (route.method !== 'DELETE') return route.operationId === 'rotateKeys' ? 0 : 1;
      // What lies below something goes before it.
      return route.path.split('/').length > 3 ? 2 : 3 + (depth(route) === -1 ? 0 : 10 - depth(route));
    };
    // The stream does not end by itself; live.test.ts follows one.
    const ending = concerned.filter(({ operationId }) => operationId !== 'followBoard');
    for (const route of ending.sort((a, b) => rank(a) - rank(b))) {
      const { status, body } = await ask(route, { cookie: world.owner.cookie });
      const expected = route.operationId === 'inviteMember' ? [409] : [200, 201, 204];
      expect(expected, `${route.method} ${route.path}: ${status} ${JSON.stringify(body)}`).toContain(status);
    }
  });
});

test('routes of no workspace are known by name: a new one has to be looked at', () => {
  expect(
    routes
      .filter((route) => !isOfWorkspace(route))
      .map(({ operationId }) => operationId)
      .sort(),
  ).toEqual([
    'beginWebauthn',
    'createWorkspace',
    'deleteMe',
    'deleteWebauthn',
    'disableTotp',
    'endSession',
    'enrollTotp',
    'exportMe',
    'finishWebauthn',
    'issueTicket',
    'listNotifications',
    'listSessions',
    'listWebauthn',
    'listWorkspaces',
    'login',
    'loginInit',
    'logout',
    'lookUpUser',
    'readMe',
    'readNotifications',
    'recover',
    'register',
    'verifyTotp',
  ]);
});
