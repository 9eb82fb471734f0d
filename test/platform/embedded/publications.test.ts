// Publications between the owner of an embedded database and other processes, over a real socket.
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  connectLocalPublications,
  type Publications,
  PublicationsUnavailableError,
  serveLocalPublications,
} from '../../../src/platform/embedded/publications.ts';
import { aScratchDirectory, rejection } from './support.ts';

let scratch: ReturnType<typeof aScratchDirectory>;
let socketPath: string;
let hub: Publications;
const open: Publications[] = [];

beforeEach(async () => {
  scratch = aScratchDirectory();
  socketPath = join(scratch.path, 'publications.sock');
  hub = await serveLocalPublications(socketPath);
});

afterEach(async () => {
  await Promise.all(open.splice(0).map((client) => client.close()));
  await hub.close();
  scratch[Symbol.dispose]();
});

async function aConnected(): Promise<Publications> {
  const client = await connectLocalPublications(socketPath);
  open.push(client);
  return client;
}

/** Subscribes and collects; `until(n)` waits for that many messages. */
async function aListener(publications: Publications, channel: string) {
  const heard: string[] = [];
  let wake = () => {};
  const unsubscribe = await publications.subscribe(channel, (message) => {
    heard.push(message);
    wake();
  });
  return {
    heard,
    unsubscribe,
    async until(count: number): Promise<string[]> {
      while (heard.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      return heard;
    },
  };
}

test('what a client publishes reaches the hub, other clients and itself, on that channel only', async () => {
  const publisher = await aConnected();
  const other = await aConnected();
  const listeners = await Promise.all([hub, publisher, other].map((side) => aListener(side, 'cards')));
  const elsewhere = await aListener(other, 'links');
  await publisher.publish('cards', 'moved\n"1"');
  await publisher.publish('links', 'removed');
  expect(await Promise.all(listeners.map((listener) => listener.until(1)))).toEqual(
    Array(3).fill(['moved\n"1"']),
  );
  expect(await elsewhere.until(1)).toEqual(['removed']);
});

test('a publication has reached the hub when publish resolves', async () => {
  const publisher = await aConnected();
  const { heard } = await aListener(hub, 'cards');
  await publisher.publish('cards', 'now');
  expect(heard).toEqual(['now']);
});

test('messages arrive in the order they were published', async () => {
  const publisher = await aConnected();
  const listener = await aListener(await aConnected(), 'cards');
  const messages = Array.from({ length: 500 }, (_, index) => `${index}`);
  await Promise.all(messages.map((message) => publisher.publish('cards', message)));
  expect(await listener.until(500)).toEqual(messages);
});

test('after unsubscribing nothing is heard, and other handlers of the channel still are', async () => {
  const client = await aConnected();
  const gone = await aListener(client, 'cards');
  const stays = await aListener(client, 'cards');
  await gone.unsubscribe();
  await hub.publish('cards', 'one');
  expect([await stays.until(1), gone.heard]).toEqual([['one'], []]);
});

test('a handler that throws does not keep the message from the others', async () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.message);
  process.on('warning', onWarning);
  await hub.subscribe('cards', () => {
    throw new Error('handler failed');
  });
  const { heard } = await aListener(hub, 'cards');
  await hub.publish('cards', 'one');
  await new Promise((resolve) => setImmediate(resolve));
  process.off('warning', onWarning);
  expect([heard, warnings]).toEqual([['one'], ['handler failed']]);
});

test('a client finds a new hub at the same place and hears it as before', async () => {
  const client = await aConnected();
  const listener = await aListener(client, 'cards');
  await hub.close();
  hub = await serveLocalPublications(socketPath);
  // The first may still go down with the old connection; the next waits for the new one, which begins by
  // renewing the subscriptions.
  await client.publish('cards', 'between').catch(() => {});
  await client.publish('cards', 'after');
  while (listener.heard.at(-1) !== 'after') await listener.until(listener.heard.length + 1);
  expect(listener.heard.filter((message) => message === 'after')).toHaveLength(1);
});

test('a client that starts before the hub is heard once the hub is there', async () => {
  await hub.close();
  const client = await aConnected();
  const published = client.publish('cards', 'early');
  hub = await serveLocalPublications(socketPath);
  await expect(published).resolves.toBeUndefined();
});

test('without a hub a publication fails within seconds, with a reason', async () => {
  await hub.close();
  const client = await aConnected();
  const error = await rejection(client.publish('cards', 'lost'));
  expect(error).toBeInstanceOf(PublicationsUnavailableError);
  expect(error.code).toBe('PUBLICATIONS_UNAVAILABLE');
});

test('a message longer than a line may be is refused to its publisher, who goes on', async () => {
  const client = await aConnected();
  const tooLong = 'x'.repeat(1024 * 1024);
  expect(await rejection(client.publish('cards', tooLong))).toBeInstanceOf(RangeError);
  expect(await rejection(hub.publish('cards', tooLong))).toBeInstanceOf(RangeError);
  await expect(client.publish('cards', 'short')).resolves.toBeUndefined();
});

test.each([
  ['no JSON', 'hello\n'],
  ['no request', '{"id":1}\n'],
  ['a line without an end', 'x'.repeat(1024 * 1024 + 1)],
])('a connection that sends %s is closed, and the hub serves on', async (_, bytes) => {
  const socket = connect(socketPath);
  socket.on('error', () => {});
  socket.write(bytes);
  await new Promise((resolve) => socket.once('close', resolve));
  const client = await aConnected();
  await expect(client.publish('cards', 'one')).resolves.toBeUndefined();
});

test('a subscriber that stopped reading is dropped, and the others hear everything', async () => {
  const stalled = connect(socketPath);
  stalled.write('{"id":1,"action":"subscribe","channel":"cards"}\n');
  await new Promise((resolve) => stalled.once('data', resolve));
  stalled.pause();
  const dropped = new Promise((resolve) => stalled.once('close', resolve));
  const listener = await aListener(await aConnected(), 'cards');
  const large = 'x'.repeat(500_000);
  for (let count = 1; count <= 20; count += 1) {
    await hub.publish('cards', large);
    await listener.until(count);
  }
  stalled.resume();
  await dropped;
  expect(listener.heard).toHaveLength(20);
});
