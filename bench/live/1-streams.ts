// Event streams: what ten thousand idle ones cost, and how fast a tick reaches a thousand, beside a bare node:http
// server that holds the same streams and writes the same bytes.
import { Agent, type ClientRequest, request } from 'node:http';
import { setTimeout as pause } from 'node:timers/promises';
import type { Activity } from '../../src/services/kanban/boards/activity.ts';
import { announceChange } from '../../src/services/kanban/live/ticks.ts';
import { openBenchPlatform } from '../support/bench-platform.ts';
import { type KanbanDaemons, startKanban } from '../support/kanban-daemons.ts';
import { residentBytes } from '../support/process-figures.ts';
import { type RunningServer, startPeer } from '../support/processes.ts';
import { percentile, report } from '../support/report.ts';

const IDLE = 10_000;
const LISTENERS = 1_000;
const PER_SECOND = 20;
const SECONDS = 10;
const WARM_UP = 2_000;
const AT_ONCE = 100;
const SETTLE_MS = 3_000;

export async function run(): Promise<void> {
  const kanban = await startKanban();
  const bare = await startPeer('bare-streams.ts', {});
  try {
    const path = `/api/boards/${kanban.home.boardId}/live`;
    const ours = { server: kanban.api, url: kanban.api.kanbanUrl + path, cookie: kanban.home.owner.cookie };
    const theirs = { server: bare, url: `${bare.url}/live`, cookie: '' };
    const [grown, bareGrown] = [await growth(ours), await growth(theirs)];
    report({
      name: `memory of ${IDLE} idle streams`,
      ratio: grown / bareGrown,
      limit: { atMost: 1.5 },
      detail: `${(grown / IDLE / 1024).toFixed(1)} KiB each, bare node:http ${(bareGrown / IDLE / 1024).toFixed(1)} KiB`,
    });
    const [tick, bareTick] = [await ticksOfOurs(kanban, ours), await ticksOfBare(kanban, theirs)];
    report({
      name: `p99 of a tick to ${LISTENERS} streams`,
      ratio: percentile(tick, 0.99) / percentile(bareTick, 0.99),
      limit: { atMost: 2 },
      detail: `p50 ${percentile(tick, 0.5).toFixed(1)} ms, p99 ${percentile(tick, 0.99).toFixed(1)} ms; bare ${percentile(bareTick, 0.5).toFixed(1)} and ${percentile(bareTick, 0.99).toFixed(1)} ms`,
    });
  } finally {
    await bare.stop();
    await kanban.stop();
  }
}

interface Streams {
  server: RunningServer;
  url: string;
  cookie: string;
}

/** Opens streams; each chunk that comes is handed over. */
async function open(
  { url, cookie }: Streams,
  count: number,
  onData: (text: string) => void,
): Promise<ClientRequest[]> {
  const agent = new Agent({ keepAlive: false, maxSockets: Number.POSITIVE_INFINITY });
  const opened: ClientRequest[] = [];
  const one = () =>
    new Promise<void>((resolve, reject) => {
      const outgoing = request(url, { agent, headers: { cookie } });
      opened.push(outgoing);
      outgoing.on('error', reject);
      outgoing.on('response', (incoming) => {
        if (incoming.statusCode !== 200) reject(new Error(`a stream was refused: ${incoming.statusCode}`));
        incoming.setEncoding('latin1');
        incoming.on('data', onData).on('error', () => undefined);
        resolve();
      });
      outgoing.end();
    });
  for (let done = 0; done < count; done += AT_ONCE) await Promise.all(Array.from({ length: AT_ONCE }, one));
  return opened;
}

function close(streams: readonly ClientRequest[]): void {
  for (const stream of streams) stream.on('error', () => undefined).destroy();
}

async function growth(streams: Streams): Promise<number> {
  // What a process takes for the first ones, and keeps, is not what streams cost.
  close(await open(streams, WARM_UP, () => undefined));
  await pause(SETTLE_MS);
  const before = residentBytes(streams.server.child);
  const opened = await open(streams, IDLE, () => undefined);
  await pause(SETTLE_MS);
  const grown = residentBytes(streams.server.child) - before;
  close(opened);
  await pause(SETTLE_MS);
  return grown;
}

const now = () => performance.now();

/** From the publication to the arrival, at each of the listeners. */
async function ticks(
  streams: Streams,
  publish: (text: string, published: string) => Promise<void>,
): Promise<number[]> {
  const latencies: number[] = [];
  const opened = await open(streams, LISTENERS, (text) => {
    const published = text.match(/"published":"([\d.]+)"/)?.[1];
    if (published !== undefined) latencies.push(now() - Number(published));
  });
  await pause(SETTLE_MS);
  for (let number = 0; number < PER_SECOND * SECONDS; number++) {
    const published = now().toFixed(3);
    await publish(String(number), published);
    await pause(1000 / PER_SECOND);
  }
  await pause(1_000);
  close(opened);
  await pause(SETTLE_MS);
  if (latencies.length < LISTENERS * PER_SECOND * SECONDS * 0.99) throw new Error('ticks were lost');
  return latencies;
}

/** An entry of the activity as the API publishes it after a commit. */
function entryOf({ home }: KanbanDaemons, seq: number, published: string): Activity {
  const { boardId, cardId, columnId, owner } = home;
  return {
    id: 'cabcdefghijklmnopqrstuvwx',
    seq,
    verb: 'CARD_MOVED',
    boardId,
    cardId,
    actorId: owner.id,
    timestamp: new Date(),
    metadata: { cardId, fromColumnId: columnId, toColumnId: columnId, published },
  };
}

async function ticksOfOurs(kanban: KanbanDaemons, streams: Streams): Promise<number[]> {
  const { boardId, owner } = kanban.home;
  const { body } = await owner.get(`/boards/${boardId}/activity?limit=1`);
  const platform = await openBenchPlatform(kanban.env);
  let seq: number = body.items[0].seq;
  try {
    return await ticks(streams, async (_number, published) => {
      const entry = entryOf(kanban, ++seq, published);
      announceChange({ platform }, boardId, { activity: [entry], toldWebhooks: [] });
    });
  } finally {
    await platform.close();
  }
}

function ticksOfBare(kanban: KanbanDaemons, streams: Streams): Promise<number[]> {
  return ticks(streams, async (number, published) => {
    const entry = entryOf(kanban, Number(number), published);
    await fetch(streams.url, {
      method: 'POST',
      body: `event: tick\nid: ${entry.seq}\ndata: ${JSON.stringify(entry)}\n\n`,
    });
  });
}
