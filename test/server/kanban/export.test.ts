// The export of an account: everything that one can read, no secret, and no more of it at a time than fits.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { exportAccount } from '../../../src/services/kanban/accounts/export-account.ts';
import { type KanbanService, openKanbanService } from '../../../src/services/kanban/kanban-service.ts';
import {
  furnish,
  invite,
  type Json,
  type KanbanServer,
  registration,
  sealed,
  startKanbanServer,
} from '../../support/kanban-server.ts';
import { createWorld } from '../../support/kanban-world.ts';

let server: KanbanServer;
let service: KanbanService;
beforeAll(async () => {
  server = await startKanbanServer();
  service = await openKanbanService(server.platform);
});
afterAll(async () => {
  await service.close();
  await server.close();
});

test('holds webhooks, sessions and credentials, and nothing of their secrets', async () => {
  const { owner, ids, cardId } = await createWorld(server);
  const { database } = server.platform;
  await database
    .insertInto('webauthnCredential')
    .values({
      id: `c${'1'.repeat(24)}`,
      accountId: owner.id,
      credentialId: 'a credential',
      publicKey: Buffer.from('key of the credential'),
      counter: 0,
      transports: ['usb'],
      createdAt: new Date(0),
    })
    .execute();
  const { body } = await owner.get('/me/export');
  expect(body.sessions).toEqual((await owner.get('/me/sessions')).body.items);
  expect(body.webauthnCredentials).toEqual((await owner.get('/auth/webauthn')).body.items);
  const [board] = body.workspaces[0].boards;
  expect(board.webhooks).toEqual((await owner.get(`/boards/${board.board.id}/webhooks`)).body.items);
  expect(board).toMatchObject({
    columns: [{}],
    labels: [{ id: ids.labels }],
    milestones: [{ id: ids.milestones }],
    customFields: [{ id: ids['custom-fields'] }],
    cardTemplates: [{ id: ids['card-templates'] }],
    cards: [{ id: cardId }],
    comments: [{ id: ids.comments }],
    checklists: [{ id: ids.checklists }],
    checklistItems: [{ id: ids['checklist-items'] }],
    attachments: [{ id: ids.attachments }],
    automations: [{ id: ids.automations }],
    webhooks: [{ id: ids.webhooks }],
  });
  expect(JSON.stringify(body)).not.toMatch(/secret|tokenHash|authHash/i);
});

test('holds every member, every board and every value of a custom field, page after page', async () => {
  const home = await furnish(server);
  const { owner, workspaceId, boardId, columnId } = home;
  const { database } = server.platform;
  const now = new Date(0);
  const numbered = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}${index + 10_000}${boardId}`);
  const accounts = numbered('ca', 1100);
  await database
    .insertInto('account')
    .values(
      accounts.map((id) => ({
        ...registration(`${id}@example.org`),
        id,
        salt: '',
        totpSecret: null,
        createdAt: now,
        deletedAt: null,
        purgeAfter: null,
      })),
    )
    .execute();
  const membership = { workspaceId, role: 'member', encWorkspaceKey: sealed('k'), joinedAt: now } as const;
  await database
    .insertInto('workspaceMember')
    .values(accounts.map((accountId) => ({ ...membership, accountId })))
    .execute();
  const fields = numbered('cf', 30);
  const cards = numbered('cc', 8);
  const things = { boardId, position: 'a', createdAt: now, updatedAt: now };
  await database
    .insertInto('customField')
    .values(
      fields.map((id) => ({ ...things, id, encName: sealed('f'), kind: 'text' as const, encOptions: null })),
    )
    .execute();
  await database
    .insertInto('card')
    .values(
      cards.map((id) => ({
        ...things,
        id,
        columnId,
        encTitle: sealed('t'),
        encDescription: null,
        startAt: null,
        dueAt: null,
        milestoneId: null,
      })),
    )
    .execute();
  const values = cards.flatMap((cardId) =>
    fields.map((fieldId) => ({ cardId, fieldId, encValue: sealed(fieldId) })),
  );
  await database.insertInto('cardFieldValue').values(values).execute();
  const second = await owner.post(`/workspaces/${workspaceId}/boards`, {
    encName: sealed('second'),
    encBoardKey: sealed('k'),
  });
  await owner.patch(`/boards/${second.body.id}`, { archived: true });

  const { body } = await owner.get('/me/export');
  const [workspace] = body.workspaces;
  expect(workspace.members).toHaveLength(1101);
  expect(new Set(workspace.members.map(({ userId }: Json) => userId)).size).toBe(1101);
  expect(workspace.boards.map(({ board }: Json) => board.id)).toEqual([boardId, second.body.id]);
  expect(workspace.boards[0].customFieldValues).toEqual(values);
  expect(workspace.boards[1]).toMatchObject({ cards: [], customFieldValues: [], activity: [{}, {}] });
});

test('ends with the membership: what comes after is left out', async () => {
  const home = await furnish(server);
  const { owner, workspaceId } = home;
  for (const name of ['second', 'third']) {
    await owner.post(`/workspaces/${workspaceId}/boards`, {
      encName: sealed(name),
      encBoardKey: sealed('k'),
    });
  }
  const member = await invite(server, home);
  const session = await server.platform.database
    .selectFrom('session')
    .select('id')
    .where('accountId', '=', member.id)
    .executeTakeFirstOrThrow();
  let text = '';
  for await (const piece of exportAccount(service, { accountId: member.id, sessionId: session.id })) {
    text += piece;
    if (piece.includes(home.boardId) && piece.includes('encBoardKeys')) {
      await owner.delete(`/workspaces/${workspaceId}/members/${member.id}`);
    }
  }
  const { workspaces } = JSON.parse(text);
  expect(workspaces[0].boards.map(({ board }: Json) => board.id)).toEqual([home.boardId]);
});
