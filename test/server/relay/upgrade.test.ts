// Upgrades that are refused: what becomes of their sockets, also when the other side does not end them.
import { connect, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { fastestBackend } from '../../support/databases.ts';
import { furnish, type KanbanServer } from '../../support/kanban-server.ts';
import { startRelayServer, ticketOf } from '../../support/relay-server.ts';
import { until } from '../../support/serve.ts';

let server: KanbanServer;
const sockets: Socket[] = [];
beforeEach(async () => {
  server = await startRelayServer({ backend: fastestBackend() });
});
afterEach(async () => {
  for (const socket of sockets.splice(0)) socket.destroy();
  await server.close();
});

/** Asks for an upgrade, and keeps its half of the connection open whatever the answer. */
function ask(ticket: string): { answer: () => string; closed: Promise<unknown> } {
  const socket = connect({ port: Number(new URL(server.url).port), host: '127.0.0.1', allowHalfOpen: true });
  sockets.push(socket);
  let answer = '';
  socket.on('error', () => undefined).on('data', (data) => (answer += data.toString()));
  socket.write(
    [
      `GET /api/ws?t=${ticket} HTTP/1.1`,
      'Host: x',
      'Connection: Upgrade',
      'Upgrade: websocket',
      'Sec-WebSocket-Version: 13',
      'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
      '\r\n',
    ].join('\r\n'),
  );
  return { answer: () => answer, closed: new Promise((resolve) => socket.once('end', resolve)) };
}

const openSockets = () =>
  new Promise<number>((resolve) => server.app.server.getConnections((_error, count) => resolve(count)));

test('a refused socket is closed, and its client has the answer', async () => {
  const refused = Array.from({ length: 20 }, () => ask('bad'));
  await Promise.all(refused.map(({ closed }) => closed));
  for (const { answer } of refused) expect(answer()).toMatch(/^HTTP\/1.1 401 .*"UNAUTHENTICATED"/s);
  await until(async () => (await openSockets()) === 0, 3_000);
});

test('a refused socket does not hold up the stop', { timeout: 20_000 }, async () => {
  await ask('bad').closed;
  await server.app.close();
});

test('who is still at the door when the relay stops is not let in', { timeout: 20_000 }, async () => {
  const { owner } = await furnish(server);
  const ticket = await ticketOf(owner);
  const { ephemeral } = server.platform;
  const take = ephemeral.take.bind(ephemeral);
  const reached = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  vi.spyOn(ephemeral, 'take').mockImplementation(async (key) => {
    reached.resolve();
    await gate.promise;
    return take(key);
  });
  const late = ask(ticket);
  await reached.promise;
  const stopped = server.app.close();
  // Stopping tells the other relays first: by then nobody new is let in.
  await until(() => !server.app.server.listening);
  gate.resolve();
  await Promise.all([stopped, late.closed]);
  expect(late.answer()).toMatch(/^HTTP\/1.1 503 /);
});
