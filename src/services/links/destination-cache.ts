// Where links lead, for the redirect: in memory when warm, asked for in batches when not.
import { setTimeout as pause } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { Batcher } from '../../platform/batcher.ts';
import type { Platform } from '../../platform/platform.ts';
import { GONE_CHANNEL } from './announce-gone.ts';

/** A link that leads somewhere without a password. */
export interface Destination {
  linkKey: number;
  /** Value of the Location header. */
  location: string;
  /** Milliseconds since the epoch; infinity for a link without an end. */
  expiresAt: number;
}

export interface DestinationCache {
  /** The destination of a live link, if it is in memory. */
  peek(shortCode: string): Destination | undefined;
  /**
   * The destination of a live link without a password, from the database; from memory when the database does not
   * answer soon.
   */
  find(shortCode: string): Promise<Destination | undefined>;
  /** Forgets links that are gone. */
  forget(shortCodes: readonly string[]): void;
  close(): Promise<void>;
}

interface Entry extends Destination {
  loadedAt: number;
}

/** An old entry being asked for again: one lookup for all who come for it meanwhile. */
interface Refresh {
  lookup: Promise<Entry | null>;
  /** Resolves when the lookup has taken too long to wait for. */
  overdue: Promise<undefined>;
}

const CACHE_BYTES = 64 * 1024 * 1024;
const ENTRY_OVERHEAD_BYTES = 200;
// Removals are announced; this is for the announcement that never came. What is older is asked for again, and still
// used when the database is away or takes long.
const FRESH_MS = 60_000;
const PATIENCE_MS = 250;
const CONCURRENT_LOOKUPS = 2;
const MOST_LOOKUPS = 500;

/** Opens the cache of a process. */
export async function openDestinationCache({
  database,
  clock,
  ephemeral,
  log,
}: Platform): Promise<DestinationCache> {
  const entries = new LRUCache<string, Entry>({
    maxSize: CACHE_BYTES,
    sizeCalculation: ({ location }, shortCode) => location.length + shortCode.length + ENTRY_OVERHEAD_BYTES,
  });
  const refreshes = new Map<string, Refresh>();
  // Grows with every removal heard of: what was read before one may be of a link that is gone.
  let removals = 0;

  const lookups = new Batcher<string, Entry | null>({
    concurrency: CONCURRENT_LOOKUPS,
    maxBatch: MOST_LOOKUPS,
    run: async (shortCodes) => {
      const removalsBefore = removals;
      const loadedAt = clock.now();
      const rows = await database
        .selectFrom('link')
        .select(['linkKey', 'shortCode', 'originalUrl', 'expiresAt'])
        .where('shortCode', '=', (expression) => expression.fn.any(expression.val(shortCodes)))
        .where('passwordHash', 'is', null)
        .execute();
      const found = new Map<string, Entry>();
      for (const { linkKey, shortCode, originalUrl, expiresAt } of rows) {
        const entry = {
          linkKey,
          location: new URL(originalUrl).href,
          expiresAt: expiresAt?.getTime() ?? Number.POSITIVE_INFINITY,
          loadedAt,
        };
        found.set(shortCode, entry);
        if (removals === removalsBefore && ephemeral.delivering) entries.set(shortCode, entry);
      }
      return shortCodes.map((shortCode) => found.get(shortCode) ?? null);
    },
  });

  const unsubscribe = await ephemeral.subscribe(GONE_CHANNEL, (message) => forget(message.split(' ')));
  const stopResuming = ephemeral.onResumed(forgetAll);

  function forget(shortCodes: readonly string[]): void {
    removals++;
    for (const shortCode of shortCodes) {
      entries.delete(shortCode);
      // It may have read the link before it was gone.
      refreshes.delete(shortCode);
    }
  }

  /** Removals may have been missed: nothing in memory can be trusted any more. */
  function forgetAll(): void {
    removals++;
    if (entries.size > 0) entries.clear();
    refreshes.clear();
  }

  function remembered(shortCode: string): Entry | undefined {
    if (!ephemeral.delivering) {
      forgetAll();
      return undefined;
    }
    return alive(entries.get(shortCode));
  }

  function alive(entry: Entry | null | undefined): Entry | undefined {
    return entry && entry.expiresAt > clock.now() ? entry : undefined;
  }

  async function load(shortCode: string): Promise<Entry | null> {
    const entry = await lookups.add(shortCode);
    if (!entry) entries.delete(shortCode);
    return entry;
  }

  function refresh(shortCode: string): Refresh {
    const running = refreshes.get(shortCode);
    if (running) return running;
    const started = { lookup: load(shortCode), overdue: pause(PATIENCE_MS, undefined, { ref: false }) };
    refreshes.set(shortCode, started);
    const end = () => {
      if (refreshes.get(shortCode) === started) refreshes.delete(shortCode);
    };
    started.lookup.then(end, end);
    return started;
  }

  /** What is in memory, though old, unless the database says something else soon. */
  async function findAgain(shortCode: string): Promise<Destination | undefined> {
    const { lookup, overdue } = refresh(shortCode);
    const entry = await Promise.race([lookup, overdue]).catch(() => undefined);
    // The link may have gone while this waited: then there is nothing old any more, and the database decides.
    return alive(entry === undefined ? (remembered(shortCode) ?? (await load(shortCode))) : entry);
  }

  return {
    peek: (shortCode) => {
      const entry = remembered(shortCode);
      return entry && entry.loadedAt > clock.now() - FRESH_MS ? entry : undefined;
    },
    find: async (shortCode) => (remembered(shortCode) ? findAgain(shortCode) : alive(await load(shortCode))),
    forget,
    close: async () => {
      await lookups.drain();
      stopResuming();
      await unsubscribe().catch((error: unknown) => log.debug({ error }, 'unsubscribing failed'));
    },
  };
}
