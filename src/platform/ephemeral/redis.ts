// The ephemeral store over Redis 7, Valkey 8 or a cluster of either.
import { randomUUID } from 'node:crypto';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { Failure, messageOf } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import type { Log } from '../log.ts';
import { redisJournal } from './redis-journal.ts';
import type { EphemeralStore, Journal, WindowAnswer, WindowRequest } from './store.ts';

const COMMAND_TIMEOUT_MS = 1_000;
const ANNOUNCE_TIMEOUT_MS = 500;

// Members older than the window go, then there is a free slot or not: one script, so nothing comes between.
const RESERVE = `
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', ARGV[1] - ARGV[2])
local used = redis.call('ZCARD', KEYS[1])
local granted = 0
if used < tonumber(ARGV[3]) then
  redis.call('ZADD', KEYS[1], ARGV[1], ARGV[4])
  redis.call('PEXPIRE', KEYS[1], ARGV[2])
  used = used + 1
  granted = 1
end
local oldest = redis.call('ZRANGE', KEYS[1], 0, 0, 'WITHSCORES')
return {granted, used, oldest[2] or ARGV[1]}
`;

type Connection = (Redis | Cluster) & {
  svcReserve(
    key: string,
    now: number,
    windowMs: number,
    limit: number,
    member: string,
  ): Promise<[number, number, string]>;
};

/**
 * Connects to Redis, or to a cluster when several addresses are given with commas.
 *
 * @param installation - name of this installation: several may share a Redis
 * @throws {Failure} REDIS_UNREACHABLE (exit 69) when nothing answers there; once connected, an outage makes
 * single operations reject while the connection is being restored
 */
export async function connectRedis(url: string, installation: string, log: Log): Promise<RedisStore> {
  const store = new RedisStore(url, installation, log);
  try {
    await store.connect();
    return store;
  } catch (error) {
    await store.close();
    throw new Failure({
      code: 'REDIS_UNREACHABLE',
      message: `Redis at ${addressesIn(url)} cannot be used: ${messageOf(error)}`,
      hint: 'see whether it runs there and REDIS_URL names the right host, port and password',
      exit: EXIT.serverUnreachable,
      cause: error,
    });
  }
}

export class RedisStore implements EphemeralStore {
  readonly kind = 'redis';
  readonly #url: string;
  readonly #prefix: string;
  readonly #log: Log;
  readonly #commands: Connection;
  readonly #handlers = new Map<string, Set<(message: string) => void>>();
  #subscriber: Promise<Redis | Cluster> | undefined;
  #delivering = false;

  constructor(url: string, installation: string, log: Log) {
    this.#url = url;
    this.#prefix = `svc:${installation}:`;
    this.#log = log;
    this.#commands = this.#open(false) as Connection;
    this.#commands.defineCommand('svcReserve', { numberOfKeys: 1, lua: RESERVE });
  }

  async connect(): Promise<void> {
    await this.#commands.connect();
    await this.#commands.ping();
  }

  async reserve({ key, limit, windowMs, now, member }: WindowRequest): Promise<WindowAnswer> {
    const [granted, used, oldest] = await this.#commands.svcReserve(
      this.#prefix + key,
      now,
      windowMs,
      limit,
      member,
    );
    return { granted: granted === 1, used, oldest: Number(oldest) };
  }

  async release(key: string, member: string): Promise<void> {
    await this.#commands.zrem(this.#prefix + key, member);
  }

  async put(key: string, value: string, ttlMs: number): Promise<void> {
    await this.#commands.set(this.#prefix + key, value, 'PX', ttlMs);
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.#commands.get(this.#prefix + key)) ?? undefined;
  }

  async take(key: string): Promise<string | undefined> {
    return (await this.#commands.getdel(this.#prefix + key)) ?? undefined;
  }

  async publish(channel: string, message: string): Promise<void> {
    await this.#commands.publish(this.#prefix + channel, JSON.stringify([message]));
  }

  async announce(channel: string, message: string): Promise<void> {
    const replies = `announced:${randomUUID()}`;
    let answered = 0;
    let expected = Number.POSITIVE_INFINITY;
    const everybody = Promise.withResolvers<void>();
    const check = () => answered >= expected && everybody.resolve();
    const unsubscribe = await this.subscribe(replies, () => {
      answered++;
      check();
    });
    const timeout = setTimeout(everybody.resolve, ANNOUNCE_TIMEOUT_MS);
    try {
      expected = await this.#commands.publish(this.#prefix + channel, JSON.stringify([message, replies]));
      check();
      await everybody.promise;
    } finally {
      clearTimeout(timeout);
      await unsubscribe();
    }
  }

  async subscribe(channel: string, handler: (message: string) => void): Promise<() => Promise<void>> {
    this.#subscriber ??= this.#openSubscriber();
    const subscriber = await this.#subscriber;
    const own = (message: string) => handler(message);
    const handlers = this.#handlers.get(this.#prefix + channel) ?? new Set();
    this.#handlers.set(this.#prefix + channel, handlers.add(own));
    await subscriber.subscribe(this.#prefix + channel);
    return async () => {
      handlers.delete(own);
      if (handlers.size > 0) return;
      this.#handlers.delete(this.#prefix + channel);
      await subscriber.unsubscribe(this.#prefix + channel);
    };
  }

  get delivering(): boolean {
    return this.#delivering;
  }

  journal(name: string): Journal {
    return redisJournal(this.#commands, this.#prefix + name);
  }

  async ping(): Promise<boolean> {
    return this.#commands.ping().then(
      () => true,
      () => false,
    );
  }

  async close(): Promise<void> {
    this.#commands.disconnect();
    const subscriber = await this.#subscriber?.catch(() => undefined);
    subscriber?.disconnect();
  }

  async #openSubscriber(): Promise<Redis | Cluster> {
    const subscriber = this.#open(true);
    subscriber.on('message', (channel: string, text: string) => this.#deliver(channel, text));
    subscriber.on('close', () => {
      this.#delivering = false;
    });
    subscriber.on('ready', () => this.#resubscribe(subscriber));
    await subscriber.connect();
    this.#delivering = true;
    return subscriber;
  }

  #deliver(channel: string, text: string): void {
    const [message, replies] = JSON.parse(text) as [string, string?];
    for (const handler of [...(this.#handlers.get(channel) ?? [])]) handler(message);
    if (replies === undefined) return;
    this.publish(replies, '').catch((error: unknown) =>
      this.#log.debug({ error: messageOf(error) }, 'answering an announcement failed'),
    );
  }

  /** A connection that is back counts as delivering once Redis has confirmed every subscription. */
  #resubscribe(subscriber: Redis | Cluster): void {
    const channels = [...this.#handlers.keys()];
    if (channels.length === 0) return;
    subscriber.subscribe(...channels).then(
      () => {
        this.#delivering = true;
      },
      (error: unknown) => this.#log.debug({ error: messageOf(error) }, 'subscribing again failed'),
    );
  }

  #open(subscribes: boolean): Redis | Cluster {
    const addresses = this.#url.split(',').map((address) => address.trim());
    const options = {
      lazyConnect: true,
      connectTimeout: 3_000,
      // While Redis is away a command fails at once and the caller decides; nothing piles up in memory.
      enableOfflineQueue: false,
      maxRetriesPerRequest: 0,
      autoResubscribe: true,
      retryStrategy: (attempt: number) => Math.min(attempt * 100, 2_000),
      reconnectOnError: (error: Error) => error.message.startsWith('READONLY'),
      ...(subscribes ? {} : { commandTimeout: COMMAND_TIMEOUT_MS }),
    } satisfies RedisOptions;
    const [first = '', ...others] = addresses;
    const connection =
      others.length > 0
        ? new Cluster(addresses, { lazyConnect: true, enableOfflineQueue: false, redisOptions: options })
        : new Redis(first, options);
    // ioredis reconnects by itself; the limiter says once that Redis is away, so this is for those who debug.
    connection.on('error', (error) => this.#log.debug({ error: messageOf(error) }, 'redis connection'));
    return connection;
  }
}

function addressesIn(url: string): string {
  return url
    .split(',')
    .map((address) => (URL.canParse(address.trim()) ? new URL(address.trim()).host : '(not a URL)'))
    .join(', ');
}
