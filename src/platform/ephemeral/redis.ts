// The ephemeral store over Redis 7, Valkey 8 or a cluster of either.
import { randomUUID } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { Cluster, Redis, type RedisOptions } from 'ioredis';
import { Failure, messageOf } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import type { Log } from '../log.ts';
import { redisJournal } from './redis-journal.ts';
import { RedisSubscriber, SILENCE_NOTICED_MS } from './redis-subscriber.ts';
import type { EphemeralStore, Journal, WindowAnswer, WindowRequest } from './store.ts';
import { TooLate, within } from './within.ts';

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
 * @param mayBeAway - whether a Redis that does not answer now is waited for as one is that goes away later
 * @throws {Failure} REDIS_UNREACHABLE (exit 69) when nothing answers there; once connected, an outage makes
 * single operations reject while the connection is being restored
 */
export async function connectRedis(
  url: string,
  installation: string,
  log: Log,
  mayBeAway = false,
): Promise<RedisStore> {
  const store = new RedisStore(url, installation, log);
  try {
    await store.connect();
    return store;
  } catch (error) {
    if (mayBeAway) {
      log.warn({ error: messageOf(error) }, 'Redis cannot be reached; going on without it until it can');
      return store;
    }
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
  readonly #subscriber: RedisSubscriber;
  /** Channel that answers to announcements of this store come over, and who waits for one, by announcement. */
  readonly #replies: string;
  readonly #answers = new Map<string, () => void>();

  constructor(url: string, installation: string, log: Log) {
    this.#url = url;
    this.#prefix = `svc:${installation}:`;
    this.#log = log;
    this.#commands = this.#open(false) as Connection;
    this.#commands.defineCommand('svcReserve', { numberOfKeys: 1, lua: RESERVE });
    this.#replies = `${this.#prefix}announced:${randomUUID()}`;
    this.#subscriber = new RedisSubscriber(this.#open(true), {
      own: this.#replies,
      hear: (channel, text) => this.#hear(channel, text),
      log,
    });
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
    const id = randomUUID();
    const everybody = Promise.withResolvers<void>();
    let answered = 0;
    let expected = Number.POSITIVE_INFINITY;
    const check = () => answered >= expected && everybody.resolve();
    this.#answers.set(id, () => {
      answered++;
      check();
    });
    try {
      const published = this.#publishForAnswers(channel, message, id).then((subscribers) => {
        expected = subscribers;
        check();
        return everybody.promise;
      });
      await within(ANNOUNCE_TIMEOUT_MS, published);
    } catch (error) {
      if (!(error instanceof TooLate)) throw error;
      if (expected < Number.POSITIVE_INFINITY) return;
      // Redis itself says nothing. So nobody was told, but everybody will have noticed and trusts no memory by then.
      await pause(SILENCE_NOTICED_MS - ANNOUNCE_TIMEOUT_MS);
      throw error;
    } finally {
      this.#answers.delete(id);
    }
  }

  async subscribe(channel: string, handler: (message: string) => void): Promise<() => Promise<void>> {
    const name = this.#prefix + channel;
    const own = (message: string) => handler(message);
    const handlers = this.#handlers.get(name) ?? new Set();
    this.#handlers.set(name, handlers.add(own));
    const forget = () => {
      handlers.delete(own);
      if (handlers.size === 0 && this.#handlers.get(name) === handlers) this.#handlers.delete(name);
    };
    try {
      const end = await this.#subscriber.listen(name);
      return async () => {
        forget();
        await end();
      };
    } catch (error) {
      forget();
      throw error;
    }
  }

  get delivering(): boolean {
    return this.#subscriber.delivering;
  }

  get interruptions(): number {
    return this.#subscriber.interruptions;
  }

  onResumed(handler: () => void): () => void {
    return this.#subscriber.onResumed(handler);
  }

  journal(name: string): Journal {
    return redisJournal(this.#commands, this.#prefix + name, this.#log);
  }

  async ping(): Promise<boolean> {
    return this.#commands.ping().then(
      () => true,
      () => false,
    );
  }

  async close(): Promise<void> {
    this.#commands.disconnect();
    this.#subscriber.close();
  }

  /** @returns how many connections got it, each of which answers once */
  async #publishForAnswers(channel: string, message: string, id: string): Promise<number> {
    // Without a way for answers to come in, everybody is told all the same.
    await this.#subscriber
      .open()
      .catch((error: unknown) => this.#log.debug({ error: messageOf(error) }, 'answers cannot be heard'));
    return this.#commands.publish(this.#prefix + channel, JSON.stringify([message, this.#replies, id]));
  }

  #hear(channel: string, text: string): void {
    const [message, replies, id] = JSON.parse(text) as [string, string?, string?];
    if (channel === this.#replies) this.#answers.get(message)?.();
    for (const handler of [...(this.#handlers.get(channel) ?? [])]) handler(message);
    if (replies === undefined || id === undefined) return;
    this.#commands
      .publish(replies, JSON.stringify([id]))
      .catch((error: unknown) =>
        this.#log.debug({ error: messageOf(error) }, 'answering an announcement failed'),
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
