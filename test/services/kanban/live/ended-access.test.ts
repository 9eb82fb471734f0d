// What is asked of the database for all that is open, however much that is.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { liveSessions, stillAllowed } from '../../../../src/services/kanban/live/ended-access.ts';
import { fastestBackend } from '../../../support/databases.ts';
import {
  type Furnished,
  furnish,
  type KanbanServer,
  startKanbanServer,
} from '../../../support/kanban-server.ts';

// More than a statement has parameters.
const MANY = 70_000;

let server: KanbanServer;
let home: Furnished;
let sessionId: string;
beforeAll(async () => {
  server = await startKanbanServer({ backend: fastestBackend() });
  home = await furnish(server);
  const { database } = server.platform;
  sessionId = (await database.selectFrom('session').select('id').executeTakeFirstOrThrow()).id;
});
afterAll(() => server.close());

test('sessions that go on are found among very many', async () => {
  const ids = Array.from({ length: MANY }, (_, number) => `nobody's ${number}`);
  expect(await liveSessions(server, [...ids, sessionId])).toEqual(new Set([sessionId]));
  expect(await liveSessions(server, ids.slice(0, 2))).toEqual(new Set());
});

test('holders that may go on are found among very many', async () => {
  const { owner, boardId } = home;
  const holder = { accountId: owner.id, sessionId, boardId };
  const others = Array.from({ length: MANY }, (_, number) => ({ ...holder, boardId: `none ${number}` }));
  expect(await stillAllowed(server, [...others, holder])).toEqual(new Set([holder]));
});
