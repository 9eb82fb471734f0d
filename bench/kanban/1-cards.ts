// Cards on PostgreSQL, 16 connections: reads against a bare handler that runs the very same statement, changes against
// one that runs one UPDATE by key (ours write the change, its activity and the board's number in one transaction).
import { type Call, call, join, sealed } from '../../test/support/kanban-server.ts';
import { load } from '../support/load.ts';
import { durablePostgres, privateRedis, startPeer, startSvc, svc } from '../support/processes.ts';
import { report } from '../support/report.ts';

const CONNECTIONS = 16;
const SECONDS = 6;
const BOARDS = 100;
const CARDS_ON_LARGE_BOARD = 1_000;
const CARDS_A_BOARD = 5;
/** On the board that all connections change: one for each, so that every move moves. */
const CARDS_ON_ONE_BOARD = CONNECTIONS;

const UNLIMITED = {
  KANBAN_RATE_LIMIT_LOGIN_PER_MINUTE: '0',
  KANBAN_RATE_LIMIT_REGISTER_PER_HOUR: '0',
  KANBAN_RATE_LIMIT_MUTATIONS_PER_MINUTE: '0',
  KANBAN_RATE_LIMIT_READS_PER_MINUTE: '0',
  KANBAN_RATE_LIMIT_WRITES_PER_MINUTE: '0',
};

interface Board {
  columnId: string;
  cardIds: string[];
}

export async function run(): Promise<void> {
  const [postgres, redis] = [await durablePostgres(), await privateRedis()];
  const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url, ...UNLIMITED };
  await svc(['migrate', 'up'], env);
  const ours = await startSvc({ env, args: ['--only', 'kanban'] });
  const server = { url: ours.kanbanUrl };
  const person = await join(server);
  const made = async (path: string, json: unknown): Promise<string> => {
    const { status, body } = await person.post(path, json);
    if (status !== 201) throw new Error(`${path}: ${JSON.stringify(body)}`);
    return body.id;
  };
  const workspaceId = await made('/workspaces', { encName: sealed('w'), encWorkspaceKey: sealed('k') });
  const makeBoard = async (cards: number): Promise<Board & { boardId: string }> => {
    const boardId = await made(`/workspaces/${workspaceId}/boards`, {
      encName: sealed('b'),
      encBoardKey: sealed('k'),
    });
    const columnId = await made(`/boards/${boardId}/columns`, { encName: sealed('c') });
    const cardIds: string[] = [];
    for (let card = 0; card < cards; card++) {
      cardIds.push(await made(`/columns/${columnId}/cards`, { encTitle: sealed(`card ${card}`) }));
    }
    return { boardId, columnId, cardIds };
  };
  const large = await makeBoard(CARDS_ON_LARGE_BOARD);
  const boards: Board[] = [];
  for (let board = 0; board < BOARDS; board++) boards.push(await makeBoard(CARDS_A_BOARD));
  const one = await makeBoard(CARDS_ON_ONE_BOARD);
  for (const cardId of boards.slice(0, 10).flatMap(({ cardIds }) => cardIds)) {
    await made(`/cards/${cardId}/comments`, { encBody: sealed('comment') });
  }
  const bare = await startPeer('bare-kanban.ts', { DATABASE_URL: postgres.url, ACCOUNT_ID: person.id });
  const headers = { cookie: person.cookie, 'content-type': 'application/json' };

  type Request = Pick<Call, 'path'> & { method: 'GET' | 'POST' | 'PATCH'; json?: unknown };
  const measure = async (url: string, requests: Request[]): Promise<number> => {
    const result = await load({
      url,
      connections: CONNECTIONS,
      seconds: SECONDS,
      isDealt: requests.length >= CONNECTIONS,
      requests: requests.map(({ method, path, json }) => ({
        method,
        path,
        headers,
        ...(json !== undefined && { body: JSON.stringify(json) }),
      })),
    });
    return result.perSecond;
  };
  const compare = async (
    name: string,
    atLeast: number,
    mine: Request[],
    theirs: Request[],
  ): Promise<void> => {
    // A short round to warm both up goes before.
    const bareRate = await measure(bare.url, theirs);
    const rate = await measure(`${ours.kanbanUrl}`, mine);
    report({
      name,
      ratio: rate / bareRate,
      limit: { atLeast },
      detail: `${rate.toFixed(0)}/s, bare ${bareRate.toFixed(0)}/s`,
    });
  };
  try {
    // Sees that the session works before anything is measured.
    const me = await call(server, { path: '/me', headers });
    if (me.status !== 200) throw new Error('the session does not work');
    const read = boards.flatMap(({ cardIds }) => cardIds);
    const get = (prefix: string) =>
      read.map((id) => ({ method: 'GET' as const, path: `${prefix}/cards/${id}` }));
    // To the end of the column, the card that has stood there longest: all others have been moved since.
    const move = (prefix: string, of: Board[]) =>
      Array.from({ length: of[0]?.cardIds.length ?? 0 }, (_, index) => index).flatMap((index) =>
        of.map(({ columnId, cardIds }) => ({
          method: 'PATCH' as const,
          path: `${prefix}/cards/${cardIds[index]}/move`,
          json: { toColumnId: columnId },
        })),
      );
    const create = (of: Board[]) =>
      of.map(({ columnId }) => ({
        method: 'POST' as const,
        path: `/api/columns/${columnId}/cards`,
        json: { encTitle: sealed('new') },
      }));
    await compare('card read', 0.6, get('/api'), get(''));
    await compare('card move, 100 boards', 0.25, move('/api', boards), move('', boards));
    await compare('card create, 100 boards', 0.25, create(boards), move('', boards));
    await compare('card move, one board', 0.12, move('/api', [one]), move('', [one]));
    const list = (prefix: string) => [
      { method: 'GET' as const, path: `${prefix}/boards/${large.boardId}/cards` },
    ];
    await compare(`board of ${CARDS_ON_LARGE_BOARD} cards`, 0.6, list('/api'), list(''));
  } finally {
    await bare.stop();
    await ours.stop();
    await redis.remove();
    await postgres.remove();
  }
}
