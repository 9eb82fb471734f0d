// Load on a relay, whatever protocol it speaks: senders at an even pace, receivers that look for the time in what comes.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { WebSocket } from 'ws';
import * as Y from 'yjs';
import { cpuSeconds } from './process-figures.ts';
import { percentile } from './report.ts';

export interface LoadClient {
  send(payload: Buffer): void;
  close(): void;
}

export interface FanoutLoad {
  senders: number;
  receivers: number;
  /** Messages a second, of all senders. */
  perSecond: number;
  seconds: number;
  bytes: number;
  process: ChildProcess;
  /** Connects a client; senders are connected first. */
  connect: (onBytes: (data: Buffer) => void) => Promise<LoadClient>;
}

export interface Fanout {
  perSecond: number;
  /** Processor time of the server a delivery, in microseconds. */
  cpuMicros: number;
  p50Ms: number;
  p99Ms: number;
}

const MARK = '@@';
const DIGITS = 16;
const WARM_UP_MS = 3_000;

/** Sends at a pace and measures what arrives. */
export async function fanOut({
  senders: senderCount,
  receivers: receiverCount,
  perSecond,
  seconds,
  bytes,
  process: server,
  connect,
}: FanoutLoad): Promise<Fanout> {
  const latencies: number[] = [];
  let isCounting = false;
  let deliveries = 0;
  const receive = (data: Buffer) => {
    if (!isCounting) return;
    const at = data.indexOf(MARK);
    if (at === -1) return;
    deliveries++;
    latencies.push(performance.now() - Number(data.toString('latin1', at + 2, at + 2 + DIGITS)));
  };
  const senders: LoadClient[] = [];
  for (let number = 0; number < senderCount; number++) senders.push(await connect(() => undefined));
  const receivers: LoadClient[] = [];
  for (let number = 0; number < receiverCount; number++) receivers.push(await connect(receive));
  let isOver = false;
  const sending = (async () => {
    let sent = 0;
    const startedAt = performance.now();
    while (!isOver) {
      const due = Math.floor(((performance.now() - startedAt) / 1000) * perSecond);
      for (; sent < due; sent++) {
        const time = `${MARK}${performance.now().toFixed(6).padStart(DIGITS, '0').slice(0, DIGITS)}`;
        senders[sent % senderCount]?.send(Buffer.from(time.padEnd(bytes, 'x')));
      }
      await pause(1);
    }
  })();
  await pause(WARM_UP_MS);
  isCounting = true;
  const cpuBefore = cpuSeconds(server);
  const startedAt = performance.now();
  await pause(seconds * 1000);
  isCounting = false;
  const cpu = cpuSeconds(server) - cpuBefore;
  const elapsed = (performance.now() - startedAt) / 1000;
  isOver = true;
  await sending;
  for (const client of [...senders, ...receivers]) client.close();
  await pause(500);
  return {
    perSecond: deliveries / elapsed,
    cpuMicros: (cpu / deliveries) * 1e6,
    p50Ms: percentile(latencies, 0.5),
    p99Ms: percentile(latencies, 0.99),
  };
}

/** A client of y-websocket: sync messages with updates of a document. */
export async function yWebsocketClient(url: string, onBytes: (data: Buffer) => void): Promise<LoadClient> {
  const ws = new WebSocket(`${url}/room`);
  ws.on('message', onBytes);
  await once(ws, 'open');
  const nextUpdate = updates();
  return {
    // Sync, update.
    send: (payload) => ws.send(Buffer.concat([Buffer.from([0, 2]), sized(nextUpdate(payload))])),
    close: () => ws.terminate(),
  };
}

/** A client of hocuspocus: the same, behind the name of the document and a sign-in. */
export async function hocuspocusClient(url: string, onBytes: (data: Buffer) => void): Promise<LoadClient> {
  const ws = new WebSocket(url);
  ws.on('message', onBytes);
  await once(ws, 'open');
  const name = sized(Buffer.from('room'));
  // Auth, token.
  ws.send(Buffer.concat([name, Buffer.from([2, 0]), sized(Buffer.from('token'))]));
  await once(ws, 'message');
  const nextUpdate = updates();
  return {
    send: (payload) => ws.send(Buffer.concat([name, Buffer.from([0, 2]), sized(nextUpdate(payload))])),
    close: () => ws.terminate(),
  };
}

/** Real updates: each sets a key of a map, so that the document does not grow with the load. */
function updates(): (payload: Buffer) => Buffer {
  const doc = new Y.Doc();
  const map = doc.getMap('load');
  let update: Uint8Array = new Uint8Array();
  doc.on('update', (made: Uint8Array) => {
    update = made;
  });
  return (payload) => {
    map.set(`of ${doc.clientID}`, payload.toString('latin1'));
    return Buffer.from(update);
  };
}

/** Bytes behind their length, as lib0 writes it. */
function sized(bytes: Buffer): Buffer {
  const length: number[] = [];
  let rest = bytes.length;
  for (; rest > 127; rest = Math.floor(rest / 128)) length.push(128 | (rest & 127));
  return Buffer.concat([Buffer.from([...length, rest]), bytes]);
}
