// Connections of event streams whose other end has left, or does not read.
import { once } from 'node:events';
import { type ClientRequest, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { fastestBackend } from '../../support/databases.ts';
import { type Listener, listen } from '../../support/event-stream.ts';
import { holdReads } from '../../support/hold-reads.ts';
import {
  type Furnished,
  furnish,
  invite,
  type KanbanServer,
  type Person,
  startKanbanServer,
} from '../../support/kanban-server.ts';
import { until } from '../../support/serve.ts';

let server: KanbanServer;
let home: Furnished;
const listeners: Listener[] = [];
beforeAll(async () => {
  server = await startKanbanServer({ backend: fastestBackend() });
});
beforeEach(async () => {
  home = await furnish(server);
});
afterEach(() => {
  for (const listener of listeners.splice(0)) listener.close();
});
afterAll(() => server.close());

const follow = async ({ cookie }: Person): Promise<Listener> => {
  const listener = await listen(server, { boardId: home.boardId, cookie });
  listeners.push(listener);
  return listener;
};
/** What the server answers the next request with. */
const nextResponse = async (): Promise<ServerResponse> => {
  const [, response] = (await once(server.app.server, 'request')) as [IncomingMessage, ServerResponse];
  return response;
};

test('who leaves before the answer leaves nothing behind', async () => {
  const { platform } = server;
  const { database } = platform;
  const [isAsked, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const reads = holdReads(database);
  reads.hold('board', () => {
    isAsked.resolve();
    return mayGoOn.promise;
  });
  platform.database = reads.database;
  const answering = nextResponse();
  const leaving: ClientRequest = request(`${server.url}/api/boards/${home.boardId}/live`, {
    headers: { cookie: home.owner.cookie },
  });
  leaving.on('error', () => undefined).end();
  const [response] = await Promise.all([answering, isAsked.promise]);
  leaving.destroy();
  if (!response.destroyed) await once(response, 'close');
  // Beats of the heart would go to it as well, for ever.
  const write = vi.spyOn(response, 'write');
  platform.database = database;
  mayGoOn.resolve();
  const stays = await follow(home.owner);
  await home.owner.patch(`/cards/${home.cardId}`, { completed: true });
  await stays.arrived(1);
  expect(write).not.toHaveBeenCalled();
  expect(await platform.metrics.registry.metrics()).toMatch(/^svc_kanban_streams 1$/m);
});

test('who does not read the end of a stream is let go of all the same', async () => {
  const member = await invite(server, home);
  const answering = nextResponse();
  const stream = await follow(member);
  const response = await answering;
  await until(() => stream.lastEventId() !== '');
  // Nothing leaves for this listener any more, as when it has stopped reading.
  Object.assign(response.socket ?? {}, { _write: () => undefined, _writev: null });
  await home.owner.delete(`/workspaces/${home.workspaceId}/members/${member.id}`);
  await until(() => response.writableEnded, 1_000);
  expect(response.destroyed).toBe(false);
  await until(() => response.destroyed);
});
