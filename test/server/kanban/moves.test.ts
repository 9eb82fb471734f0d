// Where cards and columns stand: before, after, last; and whoever races, one order for all and no card lost.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { fastestBackend } from '../../support/databases.ts';
import {
  type Furnished,
  furnish,
  type Json,
  type KanbanServer,
  sealed,
  startKanbanServer,
} from '../../support/kanban-server.ts';

describe.each([fastestBackend()])('on $name', (backend) => {
  let server: KanbanServer;
  let home: Furnished;
  let cards: string[];
  let second: string;
  beforeAll(async () => {
    server = await startKanbanServer({ backend });
  });
  afterAll(() => server.close());

  const setUp = async (count: number) => {
    home = await furnish(server);
    const { owner, boardId, columnId } = home;
    cards = [home.cardId];
    while (cards.length < count) {
      cards.push((await owner.post(`/columns/${columnId}/cards`, { encTitle: sealed('card') })).body.id);
    }
    second = (await owner.post(`/boards/${boardId}/columns`, { encName: sealed('second') })).body.id;
  };
  const order = async (columnId: string): Promise<string[]> =>
    (await home.owner.get(`/boards/${home.boardId}/cards`)).body.items
      .filter((card: Json) => card.columnId === columnId)
      .map(({ id }: Json) => id);
  const move = (cardId: string | undefined, json: unknown) => home.owner.patch(`/cards/${cardId}/move`, json);

  test('a card goes directly before, directly after, or last', async () => {
    await setUp(4);
    const { columnId } = home;
    const [a, b, c, d] = cards;
    expect(await order(columnId)).toEqual([a, b, c, d]);
    await move(d, { toColumnId: columnId, beforeCardId: b });
    expect(await order(columnId)).toEqual([a, d, b, c]);
    await move(a, { toColumnId: columnId, afterCardId: b });
    expect(await order(columnId)).toEqual([d, b, a, c]);
    await move(b, { toColumnId: columnId });
    expect(await order(columnId)).toEqual([d, a, c, b]);
    await move(c, { toColumnId: second });
    await move(a, { toColumnId: second, beforeCardId: c });
    expect([await order(columnId), await order(second)]).toEqual([
      [d, b],
      [a, c],
    ]);
    // Not adjacent: directly after `afterCardId`.
    await setUp(5);
    const [e, f, g, h, i] = cards;
    await move(i, { toColumnId: home.columnId, afterCardId: e, beforeCardId: h });
    expect(await order(home.columnId)).toEqual([e, i, f, g, h]);
  });

  test('a card that stays where it is moves nothing and writes no activity', async () => {
    await setUp(3);
    const { owner, boardId, columnId } = home;
    const [a, b, c] = cards;
    const activity = async () => (await owner.get(`/boards/${boardId}/activity`)).body.items[0].seq;
    const before = await activity();
    for (const [card, json] of [
      [c, { toColumnId: columnId }],
      [b, { toColumnId: columnId, beforeCardId: c }],
      [b, { toColumnId: columnId, afterCardId: a }],
      [b, { toColumnId: columnId, afterCardId: a, beforeCardId: c }],
    ] as const) {
      expect((await move(card, json)).status).toBe(200);
    }
    expect(await activity()).toBe(before);
    const moved = await move(b, { toColumnId: second });
    expect(moved.body).toMatchObject({ columnId: second });
    expect((await owner.get(`/boards/${boardId}/activity`)).body.items[0]).toMatchObject({
      verb: 'CARD_MOVED',
      cardId: b,
      actorId: owner.id,
      metadata: { fromColumnId: columnId, toColumnId: second },
    });
  });

  test('neighbours in another column, in the wrong order, or the card itself are refused', async () => {
    await setUp(3);
    const { columnId } = home;
    const [a, b, c] = cards;
    await move(c, { toColumnId: second });
    for (const json of [
      { toColumnId: columnId, beforeCardId: c },
      { toColumnId: second, afterCardId: b },
      { toColumnId: columnId, beforeCardId: a },
      { toColumnId: columnId, beforeCardId: b, afterCardId: b },
    ]) {
      expect((await move(a, json)).status).toBe(400);
    }
    await setUp(3);
    const [d, e, f] = cards;
    expect((await move(f, { toColumnId: home.columnId, afterCardId: e, beforeCardId: d })).status).toBe(400);
    expect(await order(home.columnId)).toEqual([d, e, f]);
  });

  test('moves that race neither lose nor double a card, and leave one order', async () => {
    await setUp(12);
    const { owner, boardId, columnId } = home;
    const answers = await Promise.all(
      Array.from({ length: 60 }, (_, index) =>
        move(cards[(index * 7) % 12], {
          toColumnId: index % 3 === 0 ? second : columnId,
          ...(index % 2 === 0 && { beforeCardId: cards[(index * 5 + 1) % 12] }),
        }),
      ),
    );
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200, 400]));
    const both = [...(await order(columnId)), ...(await order(second))];
    expect([...both].sort()).toEqual([...cards].sort());
    const { items } = (await owner.get(`/boards/${boardId}/cards`)).body;
    expect(new Set(items.map((card: Json) => `${card.columnId} ${card.position}`)).size).toBe(12);
    const activity = (await owner.get(`/boards/${boardId}/activity?limit=1000`)).body.items;
    expect(activity.map(({ seq }: Json) => seq)).toEqual(
      activity.map((_: Json, index: number) => activity.length - index),
    );
  });

  test('columns, checklists, their items and fields are placed like cards', async () => {
    await setUp(1);
    const { owner, boardId, cardId, columnId } = home;
    const third = (
      await owner.post(`/boards/${boardId}/columns`, { encName: sealed('3'), beforeColumnId: second })
    ).body.id;
    const columns = async () =>
      (await owner.get(`/boards/${boardId}/columns`)).body.items.map(({ id }: Json) => id);
    expect(await columns()).toEqual([columnId, third, second]);
    await owner.patch(`/columns/${columnId}`, { afterColumnId: second, wipLimit: 4 });
    expect(await columns()).toEqual([third, second, columnId]);
    const verbs = (await owner.get(`/boards/${boardId}/activity?limit=2`)).body.items.map(
      ({ verb }: Json) => verb,
    );
    expect(verbs).toEqual(['COLUMN_MOVED', 'COLUMN_UPDATED']);
    const list = (await owner.post(`/cards/${cardId}/checklists`, { encTitle: sealed('l') })).body.id;
    const items: string[] = [];
    for (let index = 0; index < 3; index++) {
      items.push((await owner.post(`/checklists/${list}/items`, { encText: sealed('i') })).body.id);
    }
    await owner.patch(`/checklist-items/${items[2]}`, { beforeItemId: items[0] });
    const shown = (await owner.get(`/cards/${cardId}/checklists`)).body.items[0].items.map(
      ({ id }: Json) => id,
    );
    expect(shown).toEqual([items[2], items[0], items[1]]);
  });

  test('cards that race to be deleted are deleted once', async () => {
    await setUp(1);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => home.owner.delete(`/cards/${home.cardId}`)),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([204, 404, 404, 404, 404, 404]);
  });
});
