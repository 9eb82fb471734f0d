// Idle connections: what ten thousand cost the relay, beside a bare ws server that holds the same.
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { ticketOf } from '../../test/support/relay-server.ts';
import { startKanban } from '../support/kanban-daemons.ts';
import { COLLECTING, settledBytes } from '../support/process-figures.ts';
import { type RunningServer, startPeer, startSvc } from '../support/processes.ts';
import { report } from '../support/report.ts';

const CONNECTIONS = 10_000;
const WARM_UP = 2_000;
const AT_ONCE = 50;
const SETTLE_MS = 3_000;

export async function run(): Promise<void> {
  const kanban = await startKanban();
  try {
    const relay = await startSvc({ env: kanban.env, daemon: 'relay', nodeArgs: COLLECTING });
    // For its first 40 seconds it asks the database about every session, since it may not have heard of all that ended.
    await pause(45_000);
    const ours = await growth(relay, async () => `${relay.relayUrl}?t=${await ticketOf(kanban.home.owner)}`);
    await relay.stop();
    const bare = await startPeer('bare-ws.ts', {}, COLLECTING);
    const theirs = await growth(bare, async () => bare.relayUrl);
    await bare.stop();
    report({
      name: `memory of ${CONNECTIONS} idle connections`,
      ratio: ours / theirs,
      limit: { atMost: 1.5 },
      detail: `${(ours / CONNECTIONS / 1024).toFixed(1)} KiB each, bare ws ${(theirs / CONNECTIONS / 1024).toFixed(1)} KiB`,
    });
  } finally {
    await kanban.stop();
  }
}

async function growth({ child }: RunningServer, address: () => Promise<string>): Promise<number> {
  // What a process takes for the first ones, and keeps, is not what connections cost.
  for (const ws of await open(WARM_UP, address)) ws.terminate();
  await pause(SETTLE_MS);
  const before = await settledBytes(child);
  const sockets = await open(CONNECTIONS, address);
  await pause(SETTLE_MS);
  const grown = (await settledBytes(child)) - before;
  for (const ws of sockets) ws.terminate();
  return grown;
}

async function open(count: number, address: () => Promise<string>): Promise<WebSocket[]> {
  const sockets: WebSocket[] = [];
  const connect = async () => {
    const ws = new WebSocket(await address());
    sockets.push(ws);
    await new Promise((resolve, reject) => ws.once('open', resolve).once('error', reject));
  };
  for (let done = 0; done < count; done += AT_ONCE) {
    await Promise.all(Array.from({ length: AT_ONCE }, connect));
  }
  return sockets;
}
