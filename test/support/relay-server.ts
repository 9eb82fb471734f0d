// A kanban server with its relay, and clients of the relay.
import { once } from 'node:events';
import { WebSocket } from 'ws';
import { createKanbanApp } from '../../src/server/kanban/app.ts';
import { openRelay } from '../../src/server/relay/relay.ts';
import { openKanbanService } from '../../src/services/kanban/kanban-service.ts';
import { type KanbanServer, type Person, UNLIMITED } from './kanban-server.ts';
import { until } from './serve.ts';
import { startTestServer, type TestServerOptions } from './test-server.ts';

/** Starts a kanban server whose port takes upgrades. */
export function startRelayServer(options: TestServerOptions = {}): Promise<KanbanServer> {
  const create = async ({ platform, version }: Parameters<typeof createKanbanApp>[0]) => {
    const service = await openKanbanService(platform);
    const app = await createKanbanApp({ platform, version, relay: await openRelay(service) });
    app.addHook('onClose', () => service.close());
    return app;
  };
  return startTestServer(
    { name: 'kanban', create, origin: (config) => config.kanban },
    { ...options, settings: { ...UNLIMITED, ...options.settings } },
  );
}

// biome-ignore lint/suspicious/noExplicitAny: a test says by what it expects which form a message has.
export type ControlMessage = any;

export interface RelayClient {
  ws: WebSocket;
  /** Control messages and binary frames, as they came. */
  control: ControlMessage[];
  frames: Buffer[];
  /** How it was closed; undefined while it is open. */
  closed(): { code: number; reason: string } | undefined;
  join(room: string): Promise<ControlMessage>;
  send(message: unknown): void;
  /** Traffic for a room. */
  transmit(room: string, payload: string | Uint8Array): void;
  /** Waits for a control message that matches. */
  hears(isMeant: (message: ControlMessage) => boolean): Promise<ControlMessage>;
  close(): void;
}

/** A ticket of somebody. */
export async function ticketOf(person: Pick<Person, 'post'>): Promise<string> {
  const { status, body } = await person.post('/auth/ws-ticket');
  if (status !== 201) throw new Error(JSON.stringify(body));
  return body.ticket;
}

/** The address of the relay with a ticket. */
export function relayUrl({ url }: { url: string }, ticket: string): string {
  return `${url.replace('http', 'ws')}/api/ws?t=${ticket}`;
}

/** A binary frame for a room. */
export function traffic(room: string, payload: string | Uint8Array): Buffer {
  const name = Buffer.from(room);
  return Buffer.concat([Buffer.from([name.length]), name, Buffer.from(payload)]);
}

/** Connects somebody. */
export async function connect(
  server: { url: string },
  person: Pick<Person, 'post'>,
  at: { url: string } = server,
): Promise<RelayClient> {
  const ws = new WebSocket(relayUrl(at, await ticketOf(person)));
  const control: ControlMessage[] = [];
  const frames: Buffer[] = [];
  let closed: { code: number; reason: string } | undefined;
  ws.on('message', (data: Buffer, isBinary: boolean) => {
    if (isBinary) frames.push(data);
    else control.push(JSON.parse(data.toString()));
  });
  ws.on('close', (code, reason) => {
    closed = { code, reason: reason.toString() };
  });
  ws.on('error', () => undefined);
  await once(ws, 'open');
  const hears = async (isMeant: (message: ControlMessage) => boolean, from = 0) => {
    let found: ControlMessage;
    await until(() => {
      found = control.slice(from).find(isMeant);
      return found !== undefined;
    });
    return found;
  };
  const send = (message: unknown) => ws.send(typeof message === 'string' ? message : JSON.stringify(message));
  return {
    ws,
    control,
    frames,
    closed: () => closed,
    send,
    join: (room) => {
      const from = control.length;
      send({ type: 'join', room });
      return hears((message) => message.room === room && ['joined', 'error'].includes(message.type), from);
    },
    transmit: (room, payload) => ws.send(traffic(room, payload)),
    hears,
    close: () => ws.close(),
  };
}
