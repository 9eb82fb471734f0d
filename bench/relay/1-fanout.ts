// Relay: four senders, a hundred receivers of one room, 400 messages a second of 400 bytes in all, beside y-websocket and
// hocuspocus at the same work.
import { setTimeout as pause } from 'node:timers/promises';
import { connect, traffic } from '../../test/support/relay-server.ts';
import { type KanbanDaemons, startKanban } from '../support/kanban-daemons.ts';
import { startNpmPeer } from '../support/npm-peers.ts';
import { cpuSeconds, residentBytes } from '../support/process-figures.ts';
import { type RunningServer, startSvc } from '../support/processes.ts';
import { type Fanout, fanOut, hocuspocusClient, yWebsocketClient } from '../support/relay-load.ts';
import { remark, report } from '../support/report.ts';

const SENDERS = 4;
const RECEIVERS = 100;
const PER_SECOND = 400;
const SECONDS = 10;
const BYTES = 400;
const SLOW_BYTES = 90_000;

export async function run(): Promise<void> {
  const kanban = await startKanban();
  const one = await startSvc({ env: kanban.env, daemon: 'relay' });
  try {
    const room = `card:${kanban.home.cardId}`;
    const ours = await fanOut({
      ...LOAD,
      process: one.child,
      connect: (onBytes) => relayClient(kanban, one, room, onBytes),
    });
    const peers: Array<[string, Fanout]> = [];
    for (const [name, client] of [
      ['y-websocket', yWebsocketClient],
      ['hocuspocus', hocuspocusClient],
    ] as const) {
      const peer = await startNpmPeer(name);
      peers.push([
        name,
        await fanOut({
          ...LOAD,
          process: peer.child,
          connect: (onBytes) => client(peer.url.replace('http', 'ws'), onBytes),
        }),
      ]);
      await peer.stop();
    }
    for (const [name, theirs] of peers) {
      report({
        name: `processor time a delivery, beside ${name}`,
        ratio: ours.cpuMicros / theirs.cpuMicros,
        limit: { atMost: 0.9 },
        detail: `${ours.cpuMicros.toFixed(1)} µs, theirs ${theirs.cpuMicros.toFixed(1)} µs`,
      });
      report({
        name: `p99 of a delivery, beside ${name}`,
        ratio: ours.p99Ms / theirs.p99Ms,
        limit: { atMost: 1 },
        detail: `p50 ${ours.p50Ms.toFixed(2)} ms, p99 ${ours.p99Ms.toFixed(2)} ms; theirs ${theirs.p50Ms.toFixed(2)} and ${theirs.p99Ms.toFixed(2)} ms`,
      });
    }
    await pausedReader(kanban, one, room);
    await acrossTwo(kanban, one, room);
  } finally {
    await one.stop();
    await kanban.stop();
  }
}

const LOAD = {
  senders: SENDERS,
  receivers: RECEIVERS,
  perSecond: PER_SECOND,
  seconds: SECONDS,
  bytes: BYTES,
};

async function relayClient(
  { api, home }: KanbanDaemons,
  relay: RunningServer,
  room: string,
  onBytes: (data: Buffer) => void,
) {
  const client = await connect({ url: api.kanbanUrl }, home.owner, {
    url: relay.relayUrl.replace('/api/ws', ''),
  });
  await client.join(room);
  // The client for tests keeps everything that comes.
  client.ws.removeAllListeners('message');
  client.ws.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) onBytes(data);
  });
  return {
    send: (payload: Buffer) => client.ws.send(traffic(room, payload)),
    close: () => client.ws.terminate(),
  };
}

/** A reader that stopped reading: how much more memory the relay takes than while everybody reads. */
async function pausedReader(kanban: KanbanDaemons, relay: RunningServer, room: string): Promise<void> {
  const { api, home } = kanban;
  const at = { url: relay.relayUrl.replace('/api/ws', '') };
  const [sender, reader] = [
    await connect({ url: api.kanbanUrl }, home.owner, at),
    await connect({ url: api.kanbanUrl }, home.owner, at),
  ];
  await sender.join(room);
  await reader.join(room);
  const most = async (): Promise<number> => {
    let peak = 0;
    for (let round = 0; round < 200; round++) {
      for (let number = 0; number < 4; number++) sender.transmit(room, Buffer.alloc(SLOW_BYTES));
      reader.frames.length = 0;
      await pause(10);
      peak = Math.max(peak, residentBytes(relay.child));
    }
    return peak;
  };
  const [first, reading] = [await most(), await most()];
  const stopped = await connect({ url: api.kanbanUrl }, home.owner, at);
  await stopped.join(room);
  stopped.ws.pause();
  const beside = await most();
  report({
    name: 'memory beside a reader that stopped',
    ratio: beside / Math.max(first, reading),
    limit: { atMost: 1.25 },
    detail: `${(beside / 2 ** 20).toFixed(0)} MiB at most, ${(reading / 2 ** 20).toFixed(0)} MiB while all read; ${((800 * SLOW_BYTES) / 2 ** 20).toFixed(0)} MiB sent to it`,
  });
  for (const client of [sender, reader, stopped]) client.ws.terminate();
}

/** As many deliveries as there can be: of one relay, and of two through Redis. */
async function acrossTwo(kanban: KanbanDaemons, one: RunningServer, room: string): Promise<void> {
  const two = await startSvc({ env: kanban.env, daemon: 'relay' });
  try {
    const most = async (relays: RunningServer[]) => {
      let turn = 0;
      const before = relays.map(({ child }) => cpuSeconds(child));
      const { perSecond } = await fanOut({
        ...LOAD,
        perSecond: 1_600,
        seconds: 6,
        process: one.child,
        connect: (onBytes) => {
          // Senders come first: all of them at the first relay, receivers in turn.
          const relay = turn < SENDERS ? relays[0] : relays[turn % relays.length];
          turn++;
          return relayClient(kanban, relay ?? one, room, onBytes);
        },
      });
      const cpu = relays.map(({ child }, index) => cpuSeconds(child) - (before[index] ?? 0));
      remark(
        `${relays.length} of them: processor ${cpu.map((seconds) => seconds.toFixed(1)).join(' and ')} s`,
      );
      return perSecond;
    };
    const alone = await most([one]);
    const both = await most([one, two]);
    report({
      name: 'deliveries of two relays through Redis, beside those of one',
      ratio: both / alone,
      limit: { atLeast: 0.6 },
      detail: `${both.toFixed(0)}/s, one ${alone.toFixed(0)}/s`,
    });
  } finally {
    await two.stop();
  }
}
