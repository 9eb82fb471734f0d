// Webhooks: sustained deliveries to a sink, beside a bare undici loop and a graphile-worker that posts the same body; and
// what a thousand dead endpoints do to a live one.
import { fork } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { sql } from 'kysely';
import { Agent, request } from 'undici';
import { createGuardedClient } from '../../src/platform/outbound/guarded-client.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { wakeDispatcher } from '../../src/services/kanban/webhooks/announce-deliveries.ts';
import { createDispatcher } from '../../src/services/kanban/webhooks/dispatch/dispatcher.ts';
import { sealed } from '../../test/support/kanban-server.ts';
import { openBenchPlatform } from '../support/bench-platform.ts';
import { type KanbanDaemons, startKanban } from '../support/kanban-daemons.ts';
import { installPeers } from '../support/npm-peers.ts';
import { type RunningServer, startPeer } from '../support/processes.ts';
import { percentile, remark, report } from '../support/report.ts';

const CONNECTIONS = 50;
/** Of a board. */
const WEBHOOKS = 50;
// Of several seconds, so that neither starts while it is measured.
const JOBS = 60_000;
const DEAD = 1_000;
/** Deliveries that wait for each of those. */
const BACKLOG = 100;
const BODY = JSON.stringify({
  verb: 'CARD_MOVED',
  boardId: 'cabcdefghijklmnopqrstuvwx',
  cardId: 'cabcdefghijklmnopqrstuvwy',
  actorId: 'cabcdefghijklmnopqrstuvwz',
  timestamp: '2026-01-31T12:00:00.000Z',
  metadata: { fromColumnId: 'cabcdefghijklmnopqrstuvw1', toColumnId: 'cabcdefghijklmnopqrstuvw2' },
});

export async function run(): Promise<void> {
  const kanban = await startKanban({ WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true' });
  const sink = await startPeer('sink.ts', {});
  const platform = await openBenchPlatform(kanban.env);
  try {
    const bare = await bareLoop(sink);
    const ours = await dispatched(platform, kanban, sink);
    installPeers();
    const [plain, tuned] = [
      await graphileWorker(kanban, sink, false),
      await graphileWorker(kanban, sink, true),
    ];
    const detail = (theirs: number) => `${ours.toFixed(0)}/s, theirs ${theirs.toFixed(0)}/s`;
    for (const [name, theirs, atLeast] of [
      [`a bare undici loop with ${CONNECTIONS} connections`, bare, 0.25],
      ['graphile-worker with its defaults', plain, 1.5],
      ['graphile-worker with a local queue', tuned, 0.9],
    ] as const) {
      report({
        name: `deliveries, beside ${name}`,
        ratio: ours / theirs,
        limit: { atLeast },
        detail: detail(theirs),
      });
    }
    await deadEndpoints(platform, kanban, sink);
  } finally {
    await platform.close();
    await sink.stop();
    await kanban.stop();
  }
}

/** Posts one after the other on each connection: what the machine can do. */
async function bareLoop({ url }: RunningServer): Promise<number> {
  const dispatcher = new Agent({ connections: CONNECTIONS, pipelining: 1 });
  let sent = 0;
  const startedAt = performance.now();
  await Promise.all(
    Array.from({ length: CONNECTIONS }, async () => {
      while (sent++ < JOBS) {
        const signature = createHmac('sha256', 'whsec').update(`1.${BODY}`).digest('hex');
        const answer = await request(`${url}/sink`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-app-signature': signature },
          body: BODY,
          dispatcher,
        });
        await answer.body.dump();
      }
    }),
  );
  const perSecond = JOBS / ((performance.now() - startedAt) / 1000);
  await dispatcher.close();
  return perSecond;
}

async function createWebhooks(
  { home }: KanbanDaemons,
  count: number,
  urlOf: (index: number) => string,
): Promise<string[]> {
  const made = async (path: string, json: unknown): Promise<string> => {
    const { status, body } = await home.owner.post(path, json);
    if (status !== 201) throw new Error(JSON.stringify(body));
    return body.id;
  };
  const ids: string[] = [];
  let boardId = '';
  for (let index = 0; index < count; index++) {
    if (index % WEBHOOKS === 0) {
      const board = { encName: sealed('b'), encBoardKey: sealed('k') };
      boardId = await made(`/workspaces/${home.workspaceId}/boards`, board);
    }
    ids.push(await made(`/boards/${boardId}/webhooks`, { url: urlOf(index), verbs: ['CARD_DELETED'] }));
  }
  return ids;
}

let enqueued = 0;

/** Deliveries that are due now, as the outbox has them. */
async function enqueue(
  { database }: Platform,
  webhookIds: readonly string[],
  each: number,
  boardId: string,
): Promise<void> {
  await sql`
    INSERT INTO webhook_delivery (id, webhook_id, board_id, seq, verb, body, status, due_at, created_at)
    SELECT '01J' || lpad((${enqueued}::int + row_number() OVER ())::text, 23, '0'), webhook_id, ${boardId}, number,
      'CARD_MOVED', ${BODY}, 'pending', 'epoch', now()
    FROM unnest(${webhookIds}::text[]) AS webhook_id, generate_series(1, ${each}::int) AS number
    ORDER BY number`.execute(database);
  enqueued += webhookIds.length * each;
}

async function dispatched(platform: Platform, kanban: KanbanDaemons, sink: RunningServer): Promise<number> {
  const ids = await createWebhooks(kanban, WEBHOOKS, (index) => `${sink.url}/hook/${index}`);
  await enqueue(platform, ids, JOBS / WEBHOOKS, kanban.home.boardId);
  const client = createGuardedClient({ allowPrivate: true, connectionsPerOrigin: CONNECTIONS });
  const token = await holdLease(platform);
  const startedAt = performance.now();
  const totals = await createDispatcher({ platform, client, token }).drain();
  const seconds = (performance.now() - startedAt) / 1000;
  await client.close();
  if (totals.delivered !== JOBS) throw new Error(`delivered ${totals.delivered} of ${JOBS}`);
  await platform.database.deleteFrom('webhook').execute();
  return JOBS / seconds;
}

async function holdLease({ database }: Platform): Promise<string> {
  const held = {
    token: 'a benchmark',
    holder: 'a benchmark',
    acquiredAt: new Date(),
    expiresAt: new Date(0),
  };
  await database
    .insertInto('lease')
    .values({ name: 'job:dispatch-webhooks', ...held })
    .onConflict((conflict) => conflict.column('name').doUpdateSet(held))
    .execute();
  return held.token;
}

async function graphileWorker(
  { postgres }: KanbanDaemons,
  sink: RunningServer,
  isTuned: boolean,
): Promise<number> {
  const path = fileURLToPath(new URL('../peers/npm/graphile-worker.js', import.meta.url));
  const child = fork(path, {
    env: {
      PATH: process.env.PATH ?? '',
      DATABASE_URL: postgres.url,
      SINK: `${sink.url}/sink`,
      JOBS: String(isTuned ? JOBS : JOBS / 12),
      CONNECTIONS: String(CONNECTIONS),
      TUNED: isTuned ? '1' : '0',
      BODY,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  const { perSecond } = await new Promise<{ perSecond: number }>((resolve, reject) => {
    child.once('message', (message) => resolve(message as { perSecond: number }));
    child.once('exit', (code) => reject(new Error(`graphile-worker ended with ${code}`)));
  });
  await new Promise((resolve) => child.once('exit', resolve));
  return perSecond;
}

/** How long a delivery to a live endpoint takes from its writing to its end, alone and beside dead ones. */
async function deadEndpoints(platform: Platform, kanban: KanbanDaemons, sink: RunningServer): Promise<void> {
  const [live = ''] = await createWebhooks(kanban, 1, () => `${sink.url}/live`);
  const alone = await latencies(platform, kanban, live);
  const dead = await createWebhooks(kanban, DEAD, (index) => `${sink.url}/dead/${index}`);
  await enqueue(platform, dead, BACKLOG, kanban.home.boardId);
  // As PostgreSQL does by itself within a minute.
  await sql`ANALYZE webhook_delivery`.execute(platform.database);
  const beside = await latencies(platform, kanban, live);
  report({
    name: `p99 of a live endpoint beside ${DEAD} dead ones`,
    ratio: percentile(beside, 0.99) / percentile(alone, 0.99),
    limit: { atMost: 2 },
    detail: `p50 ${percentile(beside, 0.5).toFixed(1)} ms, p99 ${percentile(beside, 0.99).toFixed(1)} ms; alone ${percentile(alone, 0.5).toFixed(1)} and ${percentile(alone, 0.99).toFixed(1)} ms`,
  });
}

async function latencies(platform: Platform, { home }: KanbanDaemons, webhookId: string): Promise<number[]> {
  const client = createGuardedClient({ allowPrivate: true });
  const token = await holdLease(platform);
  const stop = new AbortController();
  const arrivals: number[] = [];
  const written = new Map<string, number>();
  const running = createDispatcher({
    platform,
    token,
    client: {
      ...client,
      request: async (message) => {
        const answer = await client.request(message);
        const at = written.get(message.headers['x-app-delivery-id'] ?? '');
        if (at !== undefined) arrivals.push(performance.now() - at);
        return answer;
      },
    },
  }).run(stop.signal);
  // The dead ones of this run have been started.
  await pause(3_000);
  for (let number = 1; number <= 200; number++) {
    const id = `01K${String(performance.now()).replaceAll('.', '').padEnd(23, '0').slice(0, 23)}`;
    written.set(id, performance.now());
    await platform.database
      .insertInto('webhookDelivery')
      .values({
        id,
        webhookId,
        boardId: home.boardId,
        seq: number,
        verb: 'CARD_MOVED',
        body: BODY,
        status: 'pending',
        dueAt: new Date(0),
        createdAt: new Date(),
      })
      .execute();
    wakeDispatcher({ platform }, { written: [webhookId] });
    await pause(20);
  }
  await pause(1_000);
  stop.abort();
  await running;
  await client.close();
  if (arrivals.length < 200) remark(`${arrivals.length} of 200 arrived in time`);
  return arrivals;
}
