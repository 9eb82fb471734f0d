// The composition root: everything a service function may need, opened in order and closed in reverse.
import { type Clock, systemClock } from './clock.ts';
import type { Config } from './config/config.ts';
import type { Database } from './database/connect.ts';
import { InProcessStore, type PublicationBus } from './ephemeral/in-process.ts';
import { connectRedis } from './ephemeral/redis.ts';
import type { EphemeralStore } from './ephemeral/store.ts';
import type { Log } from './log.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { openStorage, type Storage } from './open-storage.ts';
import { createRateLimiter, type RateLimiter } from './rate-limiter.ts';
import { deriveSecrets, rootSecretOf, type Secrets } from './secrets.ts';

export interface Platform extends AsyncDisposable {
  config: Config;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  secrets: Secrets;
  database: Database;
  storage: Storage;
  ephemeral: EphemeralStore;
  limiter: RateLimiter;
  close(): Promise<void>;
}

export interface OpenPlatformOptions {
  config: Config;
  /** What this process is, as others see it: `svc serve`. */
  command: string;
  log: Log;
  /** Whether to open without Redis while it is away; what needs it then fails by itself. */
  redisMayBeAway?: boolean;
  /** Tests replace parts of the world with their own. */
  overrides?: { clock?: Clock };
}

/**
 * Opens the platform.
 *
 * @throws {Failure} that says which part cannot be opened, why, and what to do
 */
export async function openPlatform({
  config,
  command,
  log,
  redisMayBeAway = false,
  overrides = {},
}: OpenPlatformOptions): Promise<Platform> {
  const clock = overrides.clock ?? systemClock;
  const closers: Array<() => Promise<void>> = [];
  let closing: Promise<void> | undefined;
  const close = () => (closing ??= closeInReverse(closers, log));
  try {
    const storage = await openStorage({ config, command, log });
    closers.push(storage.close);
    const secrets = deriveSecrets(config.secret ?? rootSecretOf(config.dataDir));
    const metrics = createMetrics();
    const ephemeral = await openEphemeral({ config, log, redisMayBeAway }, secrets, clock, storage);
    closers.push(() => ephemeral.close());
    const limiter = createRateLimiter({ store: ephemeral, clock, log, metrics });
    closers.push(() => limiter.close());
    return {
      config,
      clock,
      log,
      metrics,
      secrets,
      storage,
      ephemeral,
      limiter,
      close,
      database: storage.database,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openEphemeral(
  { config, log, redisMayBeAway }: Pick<OpenPlatformOptions, 'config' | 'log' | 'redisMayBeAway'>,
  { installation }: Secrets,
  clock: Clock,
  { embedded }: Storage,
): Promise<EphemeralStore> {
  const { redisUrl } = config;
  if (redisUrl !== undefined) return connectRedis(redisUrl, installation, log, redisMayBeAway);
  return new InProcessStore(clock, embedded ? await openLocalPublications(embedded) : undefined);
}

async function openLocalPublications({
  owner,
  publicationsSocket,
}: {
  owner: boolean;
  publicationsSocket: string;
}): Promise<PublicationBus> {
  const { connectLocalPublications, serveLocalPublications } = await import('./embedded/publications.ts');
  return owner ? serveLocalPublications(publicationsSocket) : connectLocalPublications(publicationsSocket);
}

async function closeInReverse(closers: Array<() => Promise<void>>, log: Log): Promise<void> {
  for (const close of closers.reverse()) {
    // One part that fails to close must not keep the others open.
    await close().catch((error: unknown) => log.error({ error }, 'closing a part of the platform failed'));
  }
}
