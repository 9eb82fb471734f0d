// Boards, columns, cards and what hangs on them, through the API.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { lockTarget } from '../../../src/services/kanban/access.ts';
import { addAttachment } from '../../../src/services/kanban/cards/attachments.ts';
import { openKanbanService } from '../../../src/services/kanban/kanban-service.ts';
import { backends } from '../../support/databases.ts';
import {
  type Furnished,
  furnish,
  invite,
  type Json,
  type KanbanServer,
  sealed,
  startKanbanServer,
} from '../../support/kanban-server.ts';

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe.each(backends())('on $name', (backend) => {
  let server: KanbanServer;
  let home: Furnished;
  beforeAll(async () => {
    server = await startKanbanServer({ backend });
  });
  afterAll(() => server.close());
  const fresh = async () => {
    home = await furnish(server);
    return home;
  };
  const verbs = async (boardId: string): Promise<string[]> => {
    const { body } = await home.owner.get(`/boards/${boardId}/activity?limit=1000`);
    const seqs = body.items.map(({ seq }: Json) => seq);
    expect(seqs).toEqual(seqs.map((_: number, index: number) => seqs.length - index));
    return body.items.map(({ verb }: Json) => verb).reverse();
  };

  test('a card goes round with everything that hangs on it, byte for byte', async () => {
    const { owner, boardId, cardId, columnId } = await fresh();
    const made = async (path: string, json: unknown) => {
      const answer = await owner.post(path, json);
      expect(answer).toMatchObject({ status: 201 });
      return answer.body;
    };
    const label = await made(`/boards/${boardId}/labels`, { encName: sealed('label'), color: '#a1B2c3' });
    const milestone = await made(`/boards/${boardId}/milestones`, {
      encName: sealed('m'),
      dueAt: '2027-01-31T12:00:00+02:00',
    });
    const field = await made(`/boards/${boardId}/custom-fields`, { encName: sealed('f'), kind: 'text' });
    expect(label).toMatchObject({
      color: '#a1B2c3',
      encName: sealed('label'),
      createdAt: expect.stringMatching(ISO),
    });
    expect(milestone).toMatchObject({ dueAt: '2027-01-31T10:00:00.000Z', archived: false });
    await owner.patch(`/cards/${cardId}`, {
      encDescription: sealed('description'.repeat(1000)),
      startAt: '2026-12-01T00:00:00Z',
      customFieldValues: [{ fieldId: field.id, encValue: sealed('value') }],
    });
    await made(`/cards/${cardId}/labels`, { labelId: label.id });
    await made(`/cards/${cardId}/assignments`, { userId: owner.id });
    expect(await owner.put(`/cards/${cardId}/milestone`, { milestoneId: milestone.id })).toMatchObject({
      status: 200,
    });
    const comment = await made(`/cards/${cardId}/comments`, { encBody: sealed('comment') });
    const checklist = await made(`/cards/${cardId}/checklists`, { encTitle: sealed('list') });
    expect(checklist.items).toEqual([]);
    const item = await made(`/checklists/${checklist.id}/items`, {
      encText: sealed('item'),
      done: true,
      assigneeId: owner.id,
    });
    await made(`/checklists/${checklist.id}/items`, { encText: sealed('second') });
    const attachment = await made(`/cards/${cardId}/attachments`, {
      encName: sealed('a'),
      encContent: sealed('content'),
    });
    expect(attachment).toMatchObject({ sizeBytes: 7, uploaderId: owner.id });
    expect(attachment).not.toHaveProperty('encContent');

    const { status, body } = await owner.get(`/cards/${cardId}`);
    expect(status).toBe(200);
    expect(body).toMatchObject({
      id: cardId,
      boardId,
      columnId,
      encTitle: sealed('card'),
      encDescription: sealed('description'.repeat(1000)),
      startAt: '2026-12-01T00:00:00.000Z',
      dueAt: null,
      completed: false,
      archived: false,
      milestoneId: milestone.id,
      labelIds: [label.id],
      assigneeIds: [owner.id],
      customFieldValues: [{ fieldId: field.id, encValue: sealed('value') }],
      commentCount: 1,
      checklistItemCount: 2,
      checklistItemDoneCount: 1,
      attachmentCount: 1,
      comments: [
        {
          id: comment.id,
          authorId: owner.id,
          encBody: sealed('comment'),
          mentions: [],
          updatedAt: expect.stringMatching(ISO),
        },
      ],
      checklists: [
        {
          id: checklist.id,
          items: [{ id: item.id, done: true, assigneeId: owner.id, dueAt: null }, { done: false }],
        },
      ],
      attachments: [{ id: attachment.id, sizeBytes: 7 }],
    });
    expect((await owner.get(`/attachments/${attachment.id}`)).body.encContent).toBe(sealed('content'));
    const listed = await owner.get(`/boards/${boardId}/cards`);
    expect(listed.body.items).toHaveLength(1);
    expect(listed.body.items[0]).not.toHaveProperty('encDescription');
    const board = await owner.get(`/boards/${boardId}`);
    expect(board.body).toMatchObject({
      encBoardKey: sealed('board key'),
      encBoardKeys: [{ epoch: 1, encBoardKey: sealed('board key') }],
      columns: [{ id: columnId }],
      labels: [{ id: label.id }],
      milestones: [{ id: milestone.id }],
      customFields: [{ id: field.id }],
      members: [{ userId: owner.id, role: 'owner' }],
    });
    expect(await verbs(boardId)).toEqual([
      'BOARD_CREATED',
      'COLUMN_CREATED',
      'CARD_CREATED',
      'LABEL_CREATED',
      'MILESTONE_CREATED',
      'CUSTOM_FIELD_CREATED',
      'CARD_UPDATED',
      'CARD_LABELED',
      'CARD_ASSIGNED',
      'CARD_MILESTONE_SET',
      'COMMENT_CREATED',
      'CHECKLIST_CREATED',
      'CHECKLIST_ITEM_CREATED',
      'CHECKLIST_ITEM_CREATED',
      'ATTACHMENT_CREATED',
    ]);
  });

  test('a change of several kinds writes one activity row for each, one of none writes none', async () => {
    const { owner, boardId, cardId } = await fresh();
    const changes = {
      encTitle: sealed('new'),
      completed: true,
      archived: true,
      dueAt: '2027-01-01T00:00:00Z',
    };
    expect((await owner.patch(`/cards/${cardId}`, changes)).body).toMatchObject({
      completed: true,
      archived: true,
    });
    expect((await owner.patch(`/cards/${cardId}`, changes)).status).toBe(200);
    expect((await owner.patch(`/cards/${cardId}`, {})).status).toBe(200);
    await owner.patch(`/cards/${cardId}`, { completed: false, archived: false, dueAt: null });
    expect((await verbs(boardId)).slice(3)).toEqual([
      'CARD_UPDATED',
      'CARD_COMPLETED',
      'CARD_ARCHIVED',
      'CARD_UPDATED',
      'CARD_REOPENED',
      'CARD_RESTORED',
    ]);
  });

  test('tying and untying are idempotent; a detached label may be named in the query or the body', async () => {
    const { owner, boardId, cardId } = await fresh();
    const label = (await owner.post(`/boards/${boardId}/labels`, { encName: sealed('l'), color: '#000000' }))
      .body;
    const path = `/cards/${cardId}/labels`;
    for (let time = 0; time < 2; time++) {
      expect((await owner.post(path, { labelId: label.id })).body.labelIds).toEqual([label.id]);
    }
    expect((await owner.delete(`${path}?labelId=${label.id}`)).status).toBe(204);
    expect((await owner.delete(path, { labelId: label.id })).status).toBe(204);
    expect((await owner.delete(path)).body.error.details).toHaveProperty('labelId');
    for (let time = 0; time < 2; time++) {
      expect((await owner.delete(`/cards/${cardId}/assignments/${owner.id}`)).status).toBe(204);
    }
    expect((await verbs(boardId)).slice(4)).toEqual(['CARD_LABELED', 'CARD_UNLABELED']);
  });

  test('archived cards, boards and milestones are listed on demand only', async () => {
    const { owner, boardId, cardId, workspaceId } = await fresh();
    const milestone = (await owner.post(`/boards/${boardId}/milestones`, { encName: sealed('m') })).body;
    await owner.patch(`/milestones/${milestone.id}`, { archived: true });
    await owner.patch(`/cards/${cardId}`, { archived: true });
    await owner.patch(`/boards/${boardId}`, { archived: true });
    for (const path of [
      `/boards/${boardId}/cards`,
      `/boards/${boardId}/milestones`,
      `/workspaces/${workspaceId}/boards`,
    ]) {
      expect((await owner.get(path)).body.items).toEqual([]);
      expect((await owner.get(`${path}?archived=1`)).body.items).toHaveLength(1);
    }
  });

  test('an upload is not read back to answer it', async () => {
    const { owner, boardId, cardId } = await fresh();
    const service = await openKanbanService(server.platform);
    const file = { encName: sealed('n'), encContent: sealed('content') };
    const answered = await addAttachment(service, owner.id, cardId, file);
    await service.close();
    expect(answered).toMatchObject({
      boardId,
      cardId,
      uploaderId: owner.id,
      encName: sealed('n'),
      sizeBytes: 7,
    });
    expect(answered).not.toHaveProperty('encContent');
    expect((await owner.get(`/attachments/${answered.id}`)).body.encContent).toBe(file.encContent);
  });

  test('a file is not read to be deleted', async () => {
    const { owner, boardId, cardId } = await fresh();
    const file = { encName: sealed('n'), encContent: sealed('content') };
    const { body: attachment } = await owner.post(`/cards/${cardId}/attachments`, file);
    const { row } = await server.platform.database
      .transaction()
      .execute((transaction) => lockTarget(transaction, owner.id, { kind: 'attachment', id: attachment.id }));
    expect(row).toEqual({ id: attachment.id, boardId, cardId });
    expect((await owner.delete(`/attachments/${attachment.id}`)).status).toBe(204);
    const { items } = (await owner.get(`/boards/${boardId}/activity?limit=1`)).body;
    expect(items).toMatchObject([{ verb: 'ATTACHMENT_DELETED', cardId }]);
  });

  test('lists come in pages that neither double nor hide', async () => {
    const { owner, boardId, columnId } = await fresh();
    for (let index = 0; index < 6; index++) {
      await owner.post(`/columns/${columnId}/cards`, { encTitle: sealed(`card ${index}`) });
      await owner.post(`/boards/${boardId}/labels`, { encName: sealed(`${index}`), color: '#ffffff' });
      await owner.post(`/boards/${boardId}/columns`, { encName: sealed(`${index}`) });
    }
    for (const [kind, count] of [
      ['cards', 7],
      ['labels', 6],
      ['columns', 7],
      ['activity', 21],
    ] as const) {
      const seen: string[] = [];
      let cursor: string | null = '';
      while (cursor !== null) {
        const page: Json = (
          await owner.get(`/boards/${boardId}/${kind}?limit=3${cursor && `&cursor=${cursor}`}`)
        ).body;
        seen.push(...page.items.map(({ id }: Json) => id));
        cursor = page.nextCursor;
      }
      expect(new Set(seen).size).toBe(count);
      expect(seen).toHaveLength(count);
      for (const wrong of ['nonsense', Buffer.from('[1]').toString('base64url')]) {
        expect((await owner.get(`/boards/${boardId}/${kind}?cursor=${wrong}`)).status).toBe(400);
      }
      for (const limit of ['0', '-1', 'x', '1000000']) {
        expect((await owner.get(`/boards/${boardId}/${kind}?limit=${limit}`)).status).toBe(400);
      }
    }
  });

  test('deleting takes everything with it that lies below', async () => {
    const { owner, boardId, cardId, columnId, workspaceId } = await fresh();
    const comment = (await owner.post(`/cards/${cardId}/comments`, { encBody: sealed('c') })).body;
    expect((await owner.delete(`/columns/${columnId}`)).status).toBe(204);
    expect((await owner.get(`/cards/${cardId}`)).status).toBe(404);
    expect((await owner.patch(`/comments/${comment.id}`, { encBody: sealed('d') })).status).toBe(404);
    expect((await owner.delete(`/boards/${boardId}`)).status).toBe(204);
    expect((await owner.get(`/boards/${boardId}`)).status).toBe(404);
    expect((await owner.delete(`/workspaces/${workspaceId}`)).status).toBe(204);
    expect((await owner.get(`/workspaces/${workspaceId}`)).status).toBe(404);
  });

  test('assignments and mentions are told, but not to who made them', async () => {
    const { owner, boardId, cardId } = await fresh();
    const member = await invite(server, home);
    await owner.post(`/cards/${cardId}/assignments`, { userId: member.id });
    await owner.post(`/cards/${cardId}/assignments`, { userId: owner.id });
    const mentions = [member.id, owner.id];
    const { body: comment } = await owner.post(`/cards/${cardId}/comments`, {
      encBody: sealed('c'),
      mentions,
    });
    await owner.patch(`/comments/${comment.id}`, { encBody: sealed('d'), mentions });
    const { body } = await member.get('/me/notifications');
    expect(body.items).toMatchObject([
      { kind: 'mention', boardId, cardId, commentId: comment.id, actorId: owner.id, readAt: null },
      { kind: 'assignment', boardId, cardId, commentId: null, actorId: owner.id, readAt: null },
    ]);
    expect((await owner.get('/me/notifications')).body.items).toEqual([]);
    expect((await member.post('/me/notifications/read', { ids: [body.items[0].id] })).body).toEqual({
      read: 1,
    });
    expect((await member.post('/me/notifications/read', {})).body).toEqual({ read: 1 });
    expect((await member.get('/me/notifications')).body.items[0].readAt).toMatch(ISO);
  });

  test('what a body names must lie on the same board, who it names be a member', async () => {
    const { owner, boardId, cardId, columnId } = await fresh();
    const other = await furnish(server);
    const foreign = {
      label: (
        await other.owner.post(`/boards/${other.boardId}/labels`, { encName: sealed('l'), color: '#000000' })
      ).body.id,
      milestone: (await other.owner.post(`/boards/${other.boardId}/milestones`, { encName: sealed('m') }))
        .body.id,
      field: (
        await other.owner.post(`/boards/${other.boardId}/custom-fields`, {
          encName: sealed('f'),
          kind: 'text',
        })
      ).body.id,
    };
    const trigger = { verb: 'CARD_MOVED' };
    const requests: Array<[string, string, unknown]> = [
      ['post', `/cards/${cardId}/labels`, { labelId: foreign.label }],
      ['post', `/cards/${cardId}/assignments`, { userId: other.owner.id }],
      ['put', `/cards/${cardId}/milestone`, { milestoneId: foreign.milestone }],
      ['patch', `/cards/${cardId}`, { milestoneId: foreign.milestone }],
      [
        'patch',
        `/cards/${cardId}`,
        { customFieldValues: [{ fieldId: foreign.field, encValue: sealed('v') }] },
      ],
      ['post', `/columns/${columnId}/cards`, { encTitle: sealed('t'), milestoneId: foreign.milestone }],
      ['patch', `/cards/${cardId}/move`, { toColumnId: other.columnId }],
      ['patch', `/cards/${cardId}/move`, { toColumnId: columnId, beforeCardId: other.cardId }],
      ['post', `/boards/${boardId}/columns`, { encName: sealed('c'), afterColumnId: other.columnId }],
      ['post', `/cards/${cardId}/comments`, { encBody: sealed('c'), mentions: [other.owner.id] }],
      [
        'post',
        `/boards/${boardId}/automations`,
        { encName: sealed('a'), trigger, actions: [{ type: 'ADD_LABEL', labelId: foreign.label }] },
      ],
      [
        'post',
        `/boards/${boardId}/automations`,
        {
          encName: sealed('a'),
          trigger: { ...trigger, toColumnId: other.columnId },
          actions: [{ type: 'ARCHIVE' }],
        },
      ],
      [
        'post',
        `/boards/${boardId}/automations`,
        { encName: sealed('a'), trigger, actions: [{ type: 'ASSIGN', userId: other.owner.id }] },
      ],
    ];
    const before = await verbs(boardId);
    for (const [method, path, json] of requests) {
      const answer = await owner[method as 'post'](path, json);
      expect({ path, json, status: answer.status }).toMatchObject({ status: 400 });
      expect(answer.body.error).toMatchObject({ code: 'BAD_REQUEST', details: expect.anything() });
    }
    expect(await verbs(boardId)).toEqual(before);
  });

  test('automations and webhooks are kept as they were sent; the secret is given out once', async () => {
    const { owner, boardId, columnId } = await fresh();
    const values = {
      encName: sealed('a'),
      trigger: { verb: 'CARD_MOVED', toColumnId: columnId },
      actions: [{ type: 'SET_COMPLETED', completed: true }, { type: 'ARCHIVE' }],
    };
    const { body: automation } = await owner.post(`/boards/${boardId}/automations`, values);
    expect(automation).toMatchObject({ ...values, enabled: true });
    expect((await owner.patch(`/automations/${automation.id}`, { enabled: false })).body).toMatchObject({
      ...values,
      enabled: false,
    });
    expect((await owner.get(`/boards/${boardId}/automations`)).body.items).toMatchObject([values]);
    // PostgreSQL gives the members back in another order: that alone is no change.
    const { body: label } = await owner.post(`/boards/${boardId}/labels`, {
      encName: sealed('l'),
      color: '#112233',
    });
    const same = { trigger: { verb: 'CARD_LABELED', toColumnId: columnId, labelId: label.id } };
    expect((await owner.patch(`/automations/${automation.id}`, same)).body).toMatchObject(same);
    const before = await verbs(boardId);
    const unchanged = await owner.patch(`/automations/${automation.id}`, {
      ...same,
      actions: values.actions,
    });
    expect(unchanged).toMatchObject({ status: 200, body: same });
    expect(await verbs(boardId)).toEqual(before);
    const hook = { url: 'https://example.com/hook', verbs: ['CARD_MOVED'] };
    const { body: webhook } = await owner.post(`/boards/${boardId}/webhooks`, hook);
    expect(webhook).toMatchObject({ ...hook, enabled: true, secret: expect.stringMatching(/^whsec_.{43}$/) });
    const listed = await owner.get(`/boards/${boardId}/webhooks`);
    expect(listed.body.items).toMatchObject([hook]);
    expect(JSON.stringify(listed.body)).not.toMatch(/secret/i);
    const rotated = await owner.post(`/webhooks/${webhook.id}/rotate-secret`);
    expect(rotated.body.secret).not.toBe(webhook.secret);
    for (const url of [
      'http://127.0.0.1/',
      'http://localhost:3000/',
      'ftp://example.com/',
      'https://u:p@example.com/',
      'http://[::1]/',
      'http://0x7f.1/',
      'x',
    ]) {
      expect((await owner.post(`/boards/${boardId}/webhooks`, { url })).status).toBe(400);
    }
    const member = await invite(server, home);
    expect((await member.post(`/boards/${boardId}/webhooks`, hook)).status).toBe(403);
    expect((await member.delete(`/webhooks/${webhook.id}`)).status).toBe(403);
  });
});
