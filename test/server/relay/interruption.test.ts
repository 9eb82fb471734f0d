// Two relays over a Redis that ends their subscriptions for a moment: what was missed is made up for at once.
import { Redis } from 'ioredis';
import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { backends, fastestBackend, type TestDatabase } from '../../support/databases.ts';
import { furnish, invite, type KanbanServer, type Person } from '../../support/kanban-server.ts';
import { type PrivateService, startRedis } from '../../support/private-services.ts';
import { connect, type RelayClient, relayUrl, startRelayServer } from '../../support/relay-server.ts';
import { until } from '../../support/serve.ts';

const isPossible = inject('redisServer') !== '' && backends().length > 1;

describe.skipIf(!isPossible)('when subscriptions end for a moment', () => {
  let redis: PrivateService;
  let admin: Redis;
  let database: TestDatabase;
  let one: KanbanServer;
  let other: KanbanServer;
  beforeAll(async () => {
    redis = await startRedis(inject('redisServer'));
    admin = new Redis(redis.url);
    database = await fastestBackend().create();
    const start = () => startRelayServer({ database, settings: { REDIS_URL: redis.url } });
    [one, other] = [await start(), await start()];
  });
  afterAll(async () => {
    await Promise.all([one.close(), other.close()]);
    await database.remove();
    admin.disconnect();
    await redis.remove();
  });

  const interrupt = () => admin.call('CLIENT', 'KILL', 'TYPE', 'pubsub');
  const count = (client: RelayClient, type: string) =>
    client.control.filter((message) => message.type === type).length;
  /** Ends what somebody has without a word to the relays: that is what they see of what was said in the gap. */
  const endUnheard = ({ id }: Person, table: 'workspaceMember' | 'session') =>
    one.platform.database.deleteFrom(table).where('accountId', '=', id).execute();

  test('who lost access in the gap is out, and all others meet anew', async () => {
    const home = await furnish(one);
    const [member, removed, signedOut] = [
      await invite(one, home),
      await invite(one, home),
      await invite(one, home),
    ];
    const room = `card:${home.cardId}`;
    const clients = [
      await connect(one, home.owner),
      await connect(other, member),
      await connect(one, removed),
      await connect(other, signedOut),
    ] as const;
    for (const client of clients) expect(await client.join(room)).toMatchObject({ type: 'joined' });
    const [owner, far, out, gone] = clients;
    await until(() => count(owner, 'peer-joined') === 3);
    await endUnheard(removed, 'workspaceMember');
    await endUnheard(signedOut, 'session');
    const metBefore = [count(owner, 'peer-joined'), count(far, 'peer-joined')] as const;
    await interrupt();
    await until(() => count(out, 'left') === 1, 1_500);
    await until(() => gone.closed()?.code === 4401, 1_500);
    await until(() => count(owner, 'peer-joined') > metBefore[0] && count(far, 'peer-joined') > metBefore[1]);
    owner.transmit(room, 'from one');
    far.transmit(room, 'from the other');
    await until(() => owner.frames.length === 1 && far.frames.length === 1);
    expect(out.frames).toEqual([]);
    for (const client of clients) client.ws.terminate();
  });

  test('a ticket from before is looked at again', async () => {
    const person = (await furnish(one)).owner;
    // Once a relay has heard everything for longer than tickets live, it trusts them.
    const now = performance.now.bind(performance);
    const later = vi.spyOn(performance, 'now').mockImplementation(() => now() + 60_000);
    try {
      const { ephemeral } = other.platform;
      const { ticket } = (await person.post('/auth/ws-ticket')).body;
      await endUnheard(person, 'session');
      const before = ephemeral.interruptions;
      await interrupt();
      await until(() => ephemeral.interruptions > before && ephemeral.delivering);
      const ws = new WebSocket(relayUrl(other, ticket));
      const outcome = await new Promise<string>((resolve) => {
        ws.on('open', () => resolve('let in')).on('error', ({ message }) => resolve(message));
      });
      ws.terminate();
      expect(outcome).toContain('401');
    } finally {
      later.mockRestore();
    }
  });
});
