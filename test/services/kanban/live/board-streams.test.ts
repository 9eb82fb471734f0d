// Streams of boards where something comes between: reads that come late or fail, subscriptions that fail, access that
// ends meanwhile. What looks for the rest every two seconds does so when the test says.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, test, vi } from 'vitest';
import type { Principal } from '../../../../src/services/kanban/accounts/session-cache.ts';
import type { KanbanService } from '../../../../src/services/kanban/kanban-service.ts';
import {
  type BoardStreams,
  openBoardStreams,
  type StreamSink,
} from '../../../../src/services/kanban/live/board-streams.ts';
import { boardChannel } from '../../../../src/services/kanban/live/ticks.ts';
import { fastestBackend } from '../../../support/databases.ts';
import { cutPublications } from '../../../support/hang-redis.ts';
import { type HeldReads, holdReads, STATEMENT } from '../../../support/hold-reads.ts';
import {
  type Furnished,
  furnish,
  invite,
  type KanbanServer,
  type Person,
  sealed,
  startKanbanServer,
} from '../../../support/kanban-server.ts';
import { startRedis } from '../../../support/private-services.ts';
import { until } from '../../../support/serve.ts';

const LOOK_EVERY_MS = 2_000;

interface Followed {
  /** Numbers of the ticks that came. */
  ticks: number[];
  isEnded: boolean;
  startsAfter: number;
}

interface Opened {
  streams: BoardStreams;
  reads: HeldReads;
  /** Follows a board; resolves once the stream is attached. */
  follow(who: Person, boardId: string, after?: number): Promise<Followed>;
}

/** Streams beside those of the server, over its database and its store. */
async function openStreams({ platform }: KanbanServer): Promise<Opened> {
  const reads = holdReads(platform.database);
  const service = { platform: { ...platform, database: reads.database } } as unknown as KanbanService;
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const streams = await openBoardStreams(service, ({ seq }) => Buffer.from(String(seq)));
  const follow = async (who: Person, boardId: string, after?: number): Promise<Followed> => {
    const { startsAfter, attach } = await streams.follow(await principalOf(who), boardId, after);
    const followed: Followed = { ticks: [], isEnded: false, startsAfter };
    const sink: StreamSink = {
      write: (encoded) => followed.ticks.push(Number(Buffer.from(encoded).toString())) > 0,
      drained: async () => true,
      end: () => {
        followed.isEnded = true;
      },
    };
    attach(sink);
    return followed;
  };
  const principalOf = async ({ id }: Person): Promise<Principal> => {
    const session = await platform.database
      .selectFrom('session')
      .select('id')
      .where('accountId', '=', id)
      .executeTakeFirst();
    return { accountId: id, sessionId: session?.id ?? 'over' };
  };
  return { streams, reads, follow };
}

const look = () => vi.advanceTimersByTime(LOOK_EVERY_MS);

describe('streams of boards', () => {
  let server: KanbanServer;
  let home: Furnished;
  let opened: Opened;
  beforeAll(async () => {
    server = await startKanbanServer({ backend: fastestBackend() });
  });
  beforeEach(async () => {
    home = await furnish(server);
    opened = await openStreams(server);
  });
  afterEach(async () => {
    opened.reads.letGo();
    await opened.streams.close();
    vi.useRealTimers();
  });
  afterAll(() => server.close());

  const change = () => home.owner.patch(`/cards/${home.cardId}`, { encTitle: sealed(String(Math.random())) });
  /** Changes the board, and waits until that was heard of. */
  const changeAloud = async () => {
    const heard = Promise.withResolvers<void>();
    const { ephemeral } = server.platform;
    const stop = await ephemeral.subscribe(boardChannel(home.boardId), () => heard.resolve());
    await change();
    await heard.promise;
    await stop();
  };
  /** A stream that has nothing to read. */
  const followed = async (who = home.owner): Promise<Followed> => {
    const stream = await opened.follow(who, home.boardId, 0);
    await until(() => stream.ticks.at(-1) === 3);
    return stream;
  };

  test('what happens during a read that finds nothing is told at once', async () => {
    const [isRead, mayEnd] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    opened.reads.hold('activity', () => {
      isRead.resolve();
      return mayEnd.promise;
    });
    const stream = await opened.follow(home.owner, home.boardId);
    await isRead.promise;
    await changeAloud();
    expect(stream.ticks).toEqual([]);
    mayEnd.resolve();
    await until(() => stream.ticks.length > 0, 5_000);
    expect(stream.ticks).toEqual([stream.startsAfter + 1]);
  });

  test('a read that fails is made again at the next look', async () => {
    const hasFailed = Promise.withResolvers<void>();
    opened.reads.hold('activity', () => {
      hasFailed.resolve();
      return Promise.reject(new Error('the database is away'));
    });
    const stream = await opened.follow(home.owner, home.boardId, 0);
    await hasFailed.promise;
    opened.reads.letGo();
    await until(() => {
      look();
      return stream.ticks.length > 0;
    }, 5_000);
    expect(stream.ticks).toEqual([1, 2, 3]);
  });

  test('numbers of ticks that are not there any more are not looked for without end', async () => {
    const stream = await followed();
    let reads = 0;
    opened.reads.hold('activity', async () => void reads++);
    const { ephemeral } = server.platform;
    await ephemeral.publish(boardChannel(home.boardId), JSON.stringify([{ seq: 1_000 }]));
    await until(() => reads > 0);
    await changeAloud();
    await until(() => stream.ticks.length > 3);
    expect(reads).toBeLessThan(6);
  });

  test('looks do not pile up while the database says nothing', async () => {
    const stream = await followed();
    const mayEnd = Promise.withResolvers<void>();
    opened.reads.hold(STATEMENT, () => mayEnd.promise);
    const before = opened.reads.asked(STATEMENT);
    for (let time = 0; time < 3; time++) look();
    expect(opened.reads.asked(STATEMENT)).toBe(before + 1);
    const { ephemeral } = server.platform;
    const { publish } = ephemeral;
    ephemeral.publish = async () => undefined;
    await change();
    ephemeral.publish = publish;
    opened.reads.letGo();
    mayEnd.resolve();
    await until(() => {
      look();
      return stream.ticks.length === 4;
    }, 5_000);
  });

  test('a subscription that fails is made again, so that ticks come by messages', async () => {
    const { ephemeral } = server.platform;
    const { subscribe } = ephemeral;
    ephemeral.subscribe = () => Promise.reject(new Error('Redis is away'));
    const stream = await followed().finally(() => {
      ephemeral.subscribe = subscribe;
    });
    await change();
    look();
    await until(() => stream.ticks.length === 4);
    await change();
    await until(() => stream.ticks.length === 5, 5_000);
  });

  test.each([
    ['is removed', (who: Person) => home.owner.delete(`/workspaces/${home.workspaceId}/members/${who.id}`)],
    ['signs out', (who: Person) => who.post('/auth/logout')],
  ])('who %s while the stream is made ready gets nothing', async (_, leave) => {
    const member = await invite(server, home);
    const [isAsked, mayGoOn] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    opened.reads.hold('board', () => {
      isAsked.resolve();
      return mayGoOn.promise;
    });
    const following = opened.follow(member, home.boardId, 0);
    await isAsked.promise;
    await leave(member);
    mayGoOn.resolve();
    const stream = await following;
    await until(() => stream.isEnded, 5_000);
    expect(stream.ticks).toEqual([]);
  });
});

describe.skipIf(inject('redisServer') === '')(
  'streams whose connection to Redis is lost for a moment',
  () => {
    test('have missed nothing once it is back: no tick, and no end of access', async () => {
      const redis = await startRedis(inject('redisServer'));
      const server = await startKanbanServer({
        backend: fastestBackend(),
        settings: { REDIS_URL: redis.url },
      });
      const home = await furnish(server);
      const member = await invite(server, home);
      const { streams, follow } = await openStreams(server);
      try {
        const [owners, theirs] = [
          await follow(home.owner, home.boardId, 0),
          await follow(member, home.boardId, 0),
        ];
        await until(() => owners.ticks.length === 3 && theirs.ticks.length === 3);
        const { database, ephemeral } = server.platform;
        const { publish } = ephemeral;
        // What is said while the connection is away is heard by nobody.
        ephemeral.publish = async () => undefined;
        await home.owner.patch(`/cards/${home.cardId}`, { encTitle: sealed('unheard') });
        ephemeral.publish = publish;
        await database.deleteFrom('workspaceMember').where('accountId', '=', member.id).execute();

        await cutPublications(redis.url);
        await until(() => theirs.isEnded && owners.ticks.length === 4, 5_000);
        expect(owners).toMatchObject({ isEnded: false, ticks: [1, 2, 3, 4] });
      } finally {
        await streams.close();
        vi.useRealTimers();
        await server.close();
        await redis.remove();
      }
    });
  },
);
