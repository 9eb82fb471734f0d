// Automations: what they do in the transaction of the trigger, as whom, how deep, and what they leave alone.
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { fastestBackend } from '../../support/databases.ts';
import {
  type Furnished,
  furnish,
  invite,
  type Json,
  type KanbanServer,
  type Person,
  sealed,
  startKanbanServer,
} from '../../support/kanban-server.ts';

// Every statement also runs embedded, in the tests that go through the table of routes (access.test.ts).
describe.each([fastestBackend()])('on $name', (backend) => {
  let server: KanbanServer;
  let home: Furnished;
  let doneId: string;
  beforeAll(async () => {
    server = await startKanbanServer({ backend });
  });
  beforeEach(async () => {
    home = await furnish(server);
    doneId = await make(`/boards/${home.boardId}/columns`, { encName: sealed('done') });
  });
  afterAll(() => server.close());

  const make = async (path: string, json: unknown, who: Person = home.owner): Promise<string> => {
    const { status, body } = await who.post(path, json);
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body.id;
  };
  const automate = (trigger: Json, actions: Json[], who: Person = home.owner) =>
    make(`/boards/${home.boardId}/automations`, { encName: sealed('a'), trigger, actions }, who);
  /** What happened since the newest automation was made, oldest first. */
  const happened = async (): Promise<Json[]> => {
    const { body } = await home.owner.get(`/boards/${home.boardId}/activity?limit=1000`);
    const until = body.items.findIndex(({ verb }: Json) => verb === 'AUTOMATION_CREATED');
    return body.items.slice(0, until).reverse();
  };
  const move = (toColumnId = doneId) => home.owner.patch(`/cards/${home.cardId}/move`, { toColumnId });

  test('every action does what it says, with activity of its own, and the reply shows it', async () => {
    const member = await invite(server, home);
    const labelId = await make(`/boards/${home.boardId}/labels`, { encName: sealed('l'), color: '#112233' });
    const oldId = await make(`/boards/${home.boardId}/labels`, { encName: sealed('o'), color: '#445566' });
    const milestoneId = await make(`/boards/${home.boardId}/milestones`, { encName: sealed('m') });
    await home.owner.post(`/cards/${home.cardId}/labels`, { labelId: oldId });
    await home.owner.post(`/cards/${home.cardId}/assignments`, { userId: home.owner.id });
    const automationId = await automate({ verb: 'CARD_UPDATED' }, [
      { type: 'MOVE_CARD', toColumnId: doneId },
      { type: 'ADD_LABEL', labelId },
      { type: 'REMOVE_LABEL', labelId: oldId },
      { type: 'ASSIGN', userId: member.id },
      { type: 'UNASSIGN', userId: home.owner.id },
      { type: 'SET_MILESTONE', milestoneId },
      { type: 'SET_COMPLETED', completed: true },
      { type: 'ARCHIVE' },
    ]);
    const { body } = await home.owner.patch(`/cards/${home.cardId}`, { encTitle: sealed('new') });
    expect(body).toMatchObject({
      columnId: doneId,
      labelIds: [labelId],
      assigneeIds: [member.id],
      milestoneId,
      completed: true,
      archived: true,
    });
    const deeds = await happened();
    expect(deeds.map(({ verb }) => verb)).toEqual([
      'CARD_UPDATED',
      'CARD_MOVED',
      'CARD_LABELED',
      'CARD_UNLABELED',
      'CARD_ASSIGNED',
      'CARD_UNASSIGNED',
      'CARD_MILESTONE_SET',
      'CARD_COMPLETED',
      'CARD_ARCHIVED',
    ]);
    expect(deeds.map(({ seq }) => seq)).toEqual(deeds.map((_, index) => deeds[0].seq + index));
    expect(deeds.slice(1).every(({ metadata }) => metadata.automationId === automationId)).toBe(true);
    expect(deeds[0].metadata.automationId).toBeUndefined();
    const told = (await member.get('/me/notifications')).body.items;
    expect(told).toMatchObject([{ kind: 'assignment', cardId: home.cardId, actorId: home.owner.id }]);
  });

  test('they act as their creator, whoever sets them off', async () => {
    const creator = await invite(server, home);
    await automate({ verb: 'CARD_MOVED' }, [{ type: 'SET_COMPLETED', completed: true }], creator);
    await move();
    expect((await happened()).map(({ verb, actorId }) => [verb, actorId])).toEqual([
      ['CARD_MOVED', home.owner.id],
      ['CARD_COMPLETED', creator.id],
    ]);
  });

  test('a trigger may ask for where from, where to, and which label', async () => {
    await automate({ verb: 'CARD_MOVED', toColumnId: doneId, fromColumnId: home.columnId }, [
      { type: 'ARCHIVE' },
    ]);
    await move(home.columnId);
    expect((await home.owner.get(`/cards/${home.cardId}`)).body.archived).toBe(false);
    await move();
    expect((await home.owner.get(`/cards/${home.cardId}`)).body.archived).toBe(true);
    const [one, other] = await Promise.all(
      ['#111111', '#222222'].map((color) =>
        make(`/boards/${home.boardId}/labels`, { encName: sealed('l'), color }),
      ),
    );
    await automate({ verb: 'CARD_LABELED', labelId: one }, [{ type: 'SET_COMPLETED', completed: true }]);
    const label = (labelId: string | undefined) =>
      home.owner.post(`/cards/${home.cardId}/labels`, { labelId });
    expect((await label(other)).body.completed).toBe(false);
    expect((await label(one)).body.completed).toBe(true);
  });

  test('those that set each other off stop after five', async () => {
    await automate({ verb: 'CARD_COMPLETED' }, [{ type: 'SET_COMPLETED', completed: false }]);
    await automate({ verb: 'CARD_REOPENED' }, [{ type: 'SET_COMPLETED', completed: true }]);
    await home.owner.patch(`/cards/${home.cardId}`, { completed: true });
    expect((await happened()).map(({ verb }) => verb)).toEqual([
      'CARD_COMPLETED',
      'CARD_REOPENED',
      'CARD_COMPLETED',
      'CARD_REOPENED',
      'CARD_COMPLETED',
      'CARD_REOPENED',
    ]);
  });

  test('many that multiply are bounded, and the trigger goes through', async () => {
    const flip = (completed: boolean) =>
      Array.from({ length: 20 }, (_, index) => ({
        type: 'SET_COMPLETED',
        completed: (index % 2 === 0) === completed,
      }));
    for (let number = 0; number < 3; number++) {
      await automate({ verb: 'CARD_COMPLETED' }, flip(false));
      await automate({ verb: 'CARD_REOPENED' }, flip(true));
    }
    const { status } = await home.owner.patch(`/cards/${home.cardId}`, { completed: true });
    expect(status).toBe(200);
    expect((await happened()).length).toBeLessThanOrEqual(201);
  });

  test('what an action needs and is gone is skipped; the others happen', async () => {
    const labelId = await make(`/boards/${home.boardId}/labels`, { encName: sealed('l'), color: '#112233' });
    const member = await invite(server, home);
    await automate({ verb: 'CARD_MOVED' }, [
      { type: 'ADD_LABEL', labelId },
      { type: 'ASSIGN', userId: member.id },
      { type: 'ARCHIVE' },
    ]);
    await home.owner.delete(`/labels/${labelId}`);
    await home.owner.delete(`/workspaces/${home.workspaceId}/members/${member.id}`);
    expect((await move()).status).toBe(200);
    expect((await happened()).map(({ verb }) => verb).slice(-2)).toEqual(['CARD_MOVED', 'CARD_ARCHIVED']);
  });

  test('one whose creator lost access is disabled, and does not fail the trigger', async () => {
    const creator = await invite(server, home);
    const id = await automate({ verb: 'CARD_MOVED' }, [{ type: 'ARCHIVE' }], creator);
    await home.owner.delete(`/workspaces/${home.workspaceId}/members/${creator.id}`);
    expect(await move()).toMatchObject({ status: 200, body: { archived: false } });
    expect((await happened()).at(-1)).toMatchObject({
      verb: 'AUTOMATION_UPDATED',
      actorId: null,
      metadata: { automationId: id, fields: ['enabled'] },
    });
    const { items } = (await home.owner.get(`/boards/${home.boardId}/automations`)).body;
    expect(items).toMatchObject([{ id, enabled: false }]);
  });

  test('disabled ones, and deleted cards, set nothing off', async () => {
    const id = await automate({ verb: 'CARD_MOVED' }, [{ type: 'ARCHIVE' }]);
    await home.owner.patch(`/automations/${id}`, { enabled: false });
    expect((await move()).body.archived).toBe(false);
    await automate({ verb: 'CARD_DELETED' }, [{ type: 'ARCHIVE' }]);
    expect((await home.owner.delete(`/cards/${home.cardId}`)).status).toBe(204);
    expect((await happened()).map(({ verb }) => verb)).toEqual(['CARD_DELETED']);
  });

  test('who is removed is unassigned, with activity that automations hear of', async () => {
    const member = await invite(server, home);
    await home.owner.post(`/cards/${home.cardId}/assignments`, { userId: member.id });
    await automate({ verb: 'CARD_UNASSIGNED' }, [{ type: 'ARCHIVE' }]);
    await member.delete(`/workspaces/${home.workspaceId}/members/${member.id}`);
    expect(await happened()).toMatchObject([
      { verb: 'CARD_UNASSIGNED', cardId: home.cardId, actorId: member.id, metadata: { userId: member.id } },
      { verb: 'CARD_ARCHIVED', actorId: home.owner.id },
    ]);
  });
});
