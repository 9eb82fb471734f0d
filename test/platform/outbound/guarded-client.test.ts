// The client for requests to addresses that strangers name: it goes nowhere private, whatever a name says when.
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  createGuardedClient,
  type GuardedClientOptions,
} from '../../../src/platform/outbound/guarded-client.ts';
import { answer, type Receiver, startReceiver } from '../../support/receiver.ts';

let receiver: Receiver;
beforeEach(async () => {
  receiver = await startReceiver();
});
afterEach(() => receiver.close());

async function post(url: string, options: Partial<GuardedClientOptions> = {}) {
  const client = createGuardedClient({ allowPrivate: false, ...options });
  try {
    return await client.request({ url, method: 'POST', headers: {}, body: '{}', timeoutMs: 2_000 });
  } finally {
    await client.close();
  }
}

const port = () => new URL(receiver.url).port;
const LOOPBACK = { address: '127.0.0.1', family: 4 };
const PUBLIC = { address: '1.1.1.1', family: 4 };

test.each([
  'http://127.0.0.1:PORT/',
  'http://[::1]:PORT/',
  'http://[::ffff:127.0.0.1]:PORT/',
  'http://2130706433:PORT/',
  'http://0x7f.1:PORT/',
  'http://169.254.169.254/latest/meta-data/',
  'http://10.0.0.1/',
  'http://100.64.0.1/',
])('%s is refused', async (url) => {
  await expect(post(url.replace('PORT', port()))).rejects.toThrow(/private or reserved address/);
  expect(receiver.received).toEqual([]);
});

test('a name is refused for any of its addresses', async () => {
  const resolve = async () => [PUBLIC, LOOPBACK];
  await expect(post(`http://mixed.example:${port()}/`, { resolve })).rejects.toThrow(/leads to a private/);
});

test('a name that leads elsewhere once it was checked gains nothing: the checked address is connected to', async () => {
  let asked = 0;
  const resolve = async () => [asked++ === 0 ? PUBLIC : LOOPBACK];
  await expect(post(`http://flips.example:${port()}/`, { resolve })).rejects.toThrow();
  expect(asked).toBe(1);
  expect(receiver.received).toEqual([]);
});

test('a name without an address is an error that says so', async () => {
  await expect(post('http://nowhere.example/', { resolve: async () => [] })).rejects.toThrow(
    'nowhere.example has no address',
  );
});

test('where private addresses are allowed, names and literals lead there', async () => {
  const resolve = async () => [LOOPBACK];
  expect(await post(`http://inside.example:${port()}/x?y=1`, { allowPrivate: true, resolve })).toMatchObject({
    status: 204,
  });
  expect((await post(receiver.url, { allowPrivate: true })).status).toBe(204);
  expect(receiver.received.map(({ path }) => path)).toEqual(['/x?y=1', '/']);
});

test('a redirect is an answer like any other', async () => {
  receiver.react(answer(307, { location: 'http://169.254.169.254/' }));
  expect(await post(receiver.url, { allowPrivate: true })).toMatchObject({
    status: 307,
    headers: { location: 'http://169.254.169.254/' },
  });
  expect(receiver.received).toHaveLength(1);
});
