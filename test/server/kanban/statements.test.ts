// A request runs as many SQL statements for much as for little.
import pg from 'pg';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { Route } from '../../../src/server/http/route.ts';
import { fastestBackend } from '../../support/databases.ts';
import { call, type KanbanServer, routesOf, sealed, startKanbanServer } from '../../support/kanban-server.ts';
import { bodyFor, createWorld, isOfWorkspace, pathTo, type World } from '../../support/kanban-world.ts';

let server: KanbanServer;
let routes: Route[];
let world: World;
beforeAll(async () => {
  server = await startKanbanServer({ backend: fastestBackend() });
  // The stream does not end.
  routes = (await routesOf(server)).filter(
    (route) => isOfWorkspace(route) && route.operationId !== 'followBoard',
  );
  world = await createWorld(server);
});
afterAll(() => server.close());

async function statementsOf(route: Route): Promise<number> {
  const spy = vi.spyOn(pg.Client.prototype, 'query');
  try {
    const { cookie } = world.owner;
    const { status } = await call(server, {
      method: route.method,
      path: pathTo(route, world.ids),
      json: bodyFor(route, world),
      headers: { cookie },
    });
    expect([route.operationId, status]).toEqual([route.operationId, 200]);
    return spy.mock.calls.length;
  } finally {
    spy.mockRestore();
  }
}

async function countAll(concerned: readonly Route[]): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const route of concerned) counts[route.operationId] = await statementsOf(route);
  return counts;
}

test('reads of a board with one of everything, and with thirty', async () => {
  const reads = routes.filter(({ method }) => method === 'GET');
  expect(reads.length).toBeGreaterThan(15);
  // Once, so that the session is known.
  await countAll(reads.slice(0, 1));
  const before = await countAll(reads);
  const { owner, ids, boardId, workspaceId, columnId, cardId } = world;
  const named = { encName: sealed('n') };
  for (let number = 0; number < 29; number++) {
    await owner.post(`/workspaces/${workspaceId}/boards`, { ...named, encBoardKey: sealed('k') });
    await owner.post(`/boards/${boardId}/columns`, named);
    const { body: label } = await owner.post(`/boards/${boardId}/labels`, { ...named, color: '#123456' });
    await owner.post(`/boards/${boardId}/milestones`, named);
    await owner.post(`/boards/${boardId}/card-templates`, { ...named, encContent: sealed('c') });
    const { body: field } = await owner.post(`/boards/${boardId}/custom-fields`, { ...named, kind: 'text' });
    const { body: card } = await owner.post(`/columns/${columnId}/cards`, { encTitle: sealed('t') });
    for (const id of [card.id, cardId]) {
      await owner.post(`/cards/${id}/labels`, { labelId: label.id });
      await owner.patch(`/cards/${id}`, {
        customFieldValues: [{ fieldId: field.id, encValue: sealed('v') }],
      });
      await owner.post(`/cards/${id}/comments`, { encBody: sealed('b') });
      await owner.post(`/cards/${id}/attachments`, { encName: sealed('a'), encContent: sealed('c') });
      const { body: checklist } = await owner.post(`/cards/${id}/checklists`, { encTitle: sealed('t') });
      for (const text of ['x', 'y'])
        await owner.post(`/checklists/${checklist.id}/items`, { encText: sealed(text) });
    }
  }
  expect(ids.cards).toBe(cardId);
  expect(await countAll(reads)).toEqual(before);
  expect(Math.max(...Object.values(before))).toBeLessThanOrEqual(8);
});
