// The event stream of a board: from now on or after an id, nothing missed, nothing twice, for as long as one may.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test } from 'vitest';
import { fastestBackend } from '../../support/databases.ts';
import { type Listener, listen } from '../../support/event-stream.ts';
import {
  call,
  type Furnished,
  furnish,
  invite,
  type KanbanServer,
  type Person,
  sealed,
  startKanbanServer,
} from '../../support/kanban-server.ts';
import { until } from '../../support/serve.ts';

// What differs between the back ends is where messages go: to other processes only with Redis.
describe.each([fastestBackend()])('on $name', (backend) => {
  let server: KanbanServer;
  let home: Furnished;
  const listeners: Listener[] = [];
  beforeAll(async () => {
    const redis = backend.name === 'PostgreSQL' && inject('redisUrl') !== '';
    server = await startKanbanServer({
      backend,
      ...(redis && { settings: { REDIS_URL: inject('redisUrl') } }),
    });
  });
  beforeEach(async () => {
    home = await furnish(server);
  });
  afterEach(() => {
    for (const listener of listeners.splice(0)) listener.close();
  });
  afterAll(() => server.close());

  const follow = async (lastEventId?: string, who: Person = home.owner, from = server): Promise<Listener> => {
    const resume = lastEventId === undefined ? {} : { lastEventId };
    const listener = await listen(from, { boardId: home.boardId, cookie: who.cookie, ...resume });
    listeners.push(listener);
    return listener;
  };
  const change = (title: string, by = server) =>
    call(by, {
      method: 'PATCH',
      path: `/cards/${home.cardId}`,
      json: { encTitle: sealed(title) },
      headers: { cookie: home.owner.cookie },
    });
  const seqs = (count: number, after: number) =>
    Array.from({ length: count }, (_, index) => after + 1 + index);

  test('tells what happens from now on, as the activity has it', async () => {
    const stream = await follow();
    expect(stream).toMatchObject({
      status: 200,
      headers: { 'content-type': 'text/event-stream; charset=utf-8', 'cache-control': 'no-store' },
    });
    await until(() => stream.lastEventId() !== '');
    expect(stream.ticks).toEqual([]);
    await change('one');
    await home.owner.patch(`/cards/${home.cardId}`, { completed: true, archived: true });
    const ticks = await stream.arrived(3);
    const { items } = (await home.owner.get(`/boards/${home.boardId}/activity`)).body;
    expect(ticks.map(({ data }) => data)).toEqual(items.slice(0, 3).reverse());
    expect(ticks.map(({ id, data }) => id - data.seq)).toEqual([0, 0, 0]);
  });

  test('comes back where it was: nothing missed, nothing twice', async () => {
    const first = await follow();
    await until(() => first.lastEventId() !== '');
    const start = Number(first.lastEventId());
    await change('one');
    await first.arrived(1);
    first.close();
    for (let number = 0; number < 20; number++) await change(`while away ${number}`);
    const second = await follow(String(start + 1));
    await change('back');
    await second.arrived(21);
    expect(second.ticks.map(({ id }) => id)).toEqual(seqs(21, start + 1));
  });

  test('an id came before the first tick, so that who is cut off before it misses nothing either', async () => {
    const first = await follow();
    await until(() => first.lastEventId() !== '');
    first.close();
    await change('unseen');
    const second = await follow(first.lastEventId());
    expect((await second.arrived(1))[0]?.data.verb).toBe('CARD_UPDATED');
  });

  test('an id from nowhere starts now', async () => {
    for (const id of ['999999', 'nonsense', '-1', '']) {
      const stream = await follow(id);
      await change(`from ${id}`);
      expect(await stream.arrived(1)).toHaveLength(1);
    }
  });

  test('many listeners while many write: each gets every tick once, in order', async () => {
    const streams = await Promise.all(Array.from({ length: 8 }, () => follow()));
    await until(() => streams.every((stream) => stream.lastEventId() !== ''));
    const start = Number(streams[0]?.lastEventId());
    await Promise.all(Array.from({ length: 40 }, (_, number) => change(`title ${number}`)));
    for (const stream of streams) {
      await stream.arrived(40);
      expect(stream.ticks.map(({ id }) => id)).toEqual(seqs(40, start));
    }
  });

  test('a restart of the server costs no tick, and brings none twice', async () => {
    const database = await backend.create();
    const ids: number[] = [];
    let lastEventId: string | undefined;
    let board: Furnished | undefined;
    for (let start = 0; start < 3; start++) {
      const own = await startKanbanServer({ database });
      board ??= await furnish(own);
      const { boardId, cardId, owner } = board;
      const write = (count: number) =>
        Promise.allSettled(
          Array.from({ length: count }, (_, number) =>
            call(own, {
              method: 'PATCH',
              path: `/cards/${cardId}`,
              json: { encTitle: sealed(`${start} ${number} of ${count}`) },
              headers: { cookie: owner.cookie },
            }),
          ),
        );
      // While nobody listens, while somebody begins to, and while the server stops.
      await write(start === 0 ? 0 : 5);
      const writing = write(6);
      const stream = await listen(own, {
        boardId,
        cookie: owner.cookie,
        ...(lastEventId !== undefined && { lastEventId }),
      });
      await until(() => stream.lastEventId() !== '');
      await writing;
      await Promise.all([write(7), own.close()]);
      await until(stream.isEnded);
      ids.push(...stream.ticks.map(({ id }) => id));
      lastEventId = stream.lastEventId();
    }
    const last = await startKanbanServer({ database });
    const cookie = board?.owner.cookie ?? '';
    const { items } = (await call(last, { path: `/boards/${board?.boardId}/activity`, headers: { cookie } }))
      .body;
    const stream = await listen(last, {
      boardId: board?.boardId ?? '',
      cookie,
      lastEventId: lastEventId ?? '',
    });
    await until(() => Number(stream.lastEventId()) === items[0].seq);
    ids.push(...stream.ticks.map(({ id }) => id));
    stream.close();
    await last.close();
    await database.remove();
    expect(ids.length).toBeGreaterThan(20);
    expect(ids).toEqual(seqs(ids.length, (ids[0] ?? 0) - 1));
    expect(ids.at(-1)).toBe(items[0].seq);
  });

  test('what another process commits arrives too', async () => {
    if (backend.name === 'embedded') return;
    const { settings } = server.platform.config.redisUrl
      ? { settings: { REDIS_URL: server.platform.config.redisUrl } }
      : { settings: {} };
    const database = {
      settings: { DATABASE_URL: server.platform.config.databaseUrl ?? '', SVC_DATA_DIR: '/nowhere' },
      remove: async () => undefined,
    };
    const other = await startKanbanServer({ database, settings });
    try {
      const stream = await follow(undefined, home.owner, other);
      await until(() => stream.lastEventId() !== '');
      await change('from the first process');
      expect((await stream.arrived(1))[0]?.data.actorId).toBe(home.owner.id);
    } finally {
      await other.close();
    }
  });

  test('what was committed and never published arrives at the next look', async () => {
    const stream = await follow();
    await until(() => stream.lastEventId() !== '');
    const { ephemeral } = server.platform;
    const publish = ephemeral.publish;
    // As when the process dies between commit and publication.
    ephemeral.publish = async () => undefined;
    await change('silent').finally(() => {
      ephemeral.publish = publish;
    });
    await stream.arrived(1);
    await change('aloud');
    await stream.arrived(2);
    expect(stream.ticks.map(({ id }) => id)).toEqual(seqs(2, Number(stream.ticks[0]?.id) - 1));
  });

  test.each([
    [
      'who is removed',
      (who: Person) => home.owner.delete(`/workspaces/${home.workspaceId}/members/${who.id}`),
    ],
    ['who leaves', (who: Person) => who.delete(`/workspaces/${home.workspaceId}/members/${who.id}`)],
    ['who signs out', (who: Person) => who.post('/auth/logout')],
    ['who deletes the account', (who: Person) => who.delete('/me')],
    ['of a deleted board', () => home.owner.delete(`/boards/${home.boardId}`)],
    ['of a deleted workspace', () => home.owner.delete(`/workspaces/${home.workspaceId}`)],
  ])('the stream %s ends at once, and only that', async (what, leave) => {
    const member = await invite(server, home);
    const [theirs, owners] = [await follow(undefined, member), await follow()];
    await leave(member);
    await until(theirs.isEnded, 1_000);
    if (what.startsWith('who')) {
      await change('still here');
      await owners.arrived(1);
      expect(owners.isEnded()).toBe(false);
    }
  });

  test('a reader that does not keep up is dropped, and comes back for the rest', async () => {
    const stream = await follow();
    await until(() => stream.lastEventId() !== '');
    const start = Number(stream.lastEventId());
    stream.pause();
    const { database } = server.platform;
    const { lastSeq } = await database
      .selectFrom('board')
      .select('lastSeq')
      .where('id', '=', home.boardId)
      .executeTakeFirstOrThrow();
    // More than the sockets and the bound of a stream hold.
    const filler = 'x'.repeat(60_000);
    const count = 300;
    await database
      .insertInto('activity')
      .values(
        Array.from({ length: count }, (_, index) => ({
          id: `c${String(index).padStart(24, '0')}`,
          boardId: home.boardId,
          seq: lastSeq + 1 + index,
          verb: 'CARD_UPDATED',
          cardId: home.cardId,
          actorId: home.owner.id,
          timestamp: new Date(server.clock.now()),
          metadata: JSON.stringify({ filler }),
        })),
      )
      .execute();
    await database
      .updateTable('board')
      .set({ lastSeq: lastSeq + count })
      .where('id', '=', home.boardId)
      .execute();
    await until(async () => /svc_kanban_streams 0/.test(await server.platform.metrics.registry.metrics()));
    stream.resume();
    await until(stream.isEnded);
    const again = await follow(stream.lastEventId());
    await until(() => (again.ticks.at(-1)?.id ?? 0) === start + count);
    expect(again.ticks[0]?.id).toBe(Number(stream.lastEventId()) + 1);
  });

  test('strangers find nothing, and who is signed out gets nothing', async () => {
    const stranger = (await furnish(server)).owner;
    expect((await follow(undefined, stranger)).status).toBe(404);
    const ask = ({ cookie }: Person) =>
      fetch(`${server.url}/api/boards/${home.boardId}/live`, { method: 'HEAD', headers: { cookie } });
    expect((await ask(stranger)).status).toBe(404);
    expect((await ask(home.owner)).headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
    expect((await listen(server, { boardId: home.boardId, cookie: '' })).status).toBe(401);
  });

  test('a stop of the server ends streams, so that listeners go elsewhere', async () => {
    const own = await startKanbanServer({ backend });
    const theirs = await furnish(own);
    const stream = await listen(own, { boardId: theirs.boardId, cookie: theirs.owner.cookie });
    await until(() => stream.lastEventId() !== '');
    await own.close();
    await until(stream.isEnded);
  });
});
