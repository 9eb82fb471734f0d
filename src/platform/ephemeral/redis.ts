// The ephemeral store over Redis 7, Valkey 8 or a cluster of either.
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { Failure, messageOf } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import type { Log } from '../log.ts';
import type { EphemeralStore, WindowAnswer, WindowRequest } from './store.ts';

const PREFIX = 'svc:';
const COMMAND_TIMEOUT_MS = 1_000;

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
 * @throws {Failure} REDIS_UNREACHABLE (exit 69) when nothing answers there; once connected, an outage makes
 * single operations reject while the connection is being restored
 */
export async function connectRedis(url: string, log: Log): Promise<RedisStore> {
  const store = new RedisStore(url, log);
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
  readonly #log: Log;
  readonly #commands: Connection;
  readonly #handlers = new Map<string, Set<(message: string) => void>>();
  #subscriber: Promise<Redis | Cluster> | undefined;

  constructor(url: string, log: Log) {
    this.#url = url;
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
      PREFIX + key,
      now,
      windowMs,
      limit,
      member,
    );
    return { granted: granted === 1, used, oldest: Number(oldest) };
  }

  async release(key: string, member: string): Promise<void> {
    await this.#commands.zrem(PREFIX + key, member);
  }

  async put(key: string, value: string, ttlMs: number): Promise<void> {
    await this.#commands.set(PREFIX + key, value, 'PX', ttlMs);
  }

  async get(key: string): Promise<string | undefined> {
    return (await this.#commands.get(PREFIX + key)) ?? undefined;
  }

  async take(key: string): Promise<string | undefined> {
    return (await this.#commands.getdel(PREFIX + key)) ?? undefined;
  }

  async publish(channel: string, message: string): Promise<void> {
    await this.#commands.publish(PREFIX + channel, message);
  }

  async subscribe(channel: string, handler: (message: string) => void): Promise<() => Promise<void>> {
    this.#subscriber ??= this.#openSubscriber();
    const subscriber = await this.#subscriber;
    const own = (message: string) => handler(message);
    const handlers = this.#handlers.get(PREFIX + channel) ?? new Set();
    this.#handlers.set(PREFIX + channel, handlers.add(own));
    await subscriber.subscribe(PREFIX + channel);
    return async () => {
      handlers.delete(own);
      if (handlers.size > 0) return;
      this.#handlers.delete(PREFIX + channel);
      await subscriber.unsubscribe(PREFIX + channel);
    };
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
    subscriber.on('message', (channel: string, message: string) => {
      for (const handler of [...(this.#handlers.get(channel) ?? [])]) handler(message);
    });
    await subscriber.connect();
    return subscriber;
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
