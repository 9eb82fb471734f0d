// What the paste functions stand on: the platform, and the state that this service keeps in a process.
import { LRUCache } from 'lru-cache';
import type { Batcher } from '../../platform/batcher.ts';
import type { Platform } from '../../platform/platform.ts';
import { GONE_CHANNEL } from './announce-gone.ts';
import { type CountedRead, createReadCounter, type ReadRequest } from './count-reads.ts';
import { createHighlighter, type Highlighter } from './highlight/highlighter.ts';
import { createInserter, type NewPasteRow } from './insert-pastes.ts';
import type { StoredPaste } from './stored-paste.ts';

const CACHE_BYTES = 64 * 1024 * 1024;

export interface PasteService {
  platform: Platform;
  /** Immutable parts of pastes that are neither protected nor burned on reading, by paste id. */
  cache: LRUCache<string, StoredPaste>;
  reads: Batcher<ReadRequest, CountedRead>;
  /** Answers whether the row was written: not, when a live paste has its id. */
  inserts: Batcher<NewPasteRow, boolean>;
  highlighter: Highlighter;
  /** First path segments of the site, which no custom id may be. */
  reservedIds: ReadonlySet<string>;
  close(): Promise<void>;
}

/** Opens the paste service of a process. The set of reserved ids may still grow until the first request. */
export async function openPasteService(
  platform: Platform,
  reservedIds: ReadonlySet<string>,
): Promise<PasteService> {
  const cache = new LRUCache<string, StoredPaste>({
    maxSize: CACHE_BYTES,
    // Two bytes a character at the most, and the object around them.
    sizeCalculation: (paste) => paste.content.length * 2 + 512,
  });
  const reads = createReadCounter(platform.database, platform.clock);
  const inserts = createInserter(platform.database);
  const highlighter = createHighlighter();
  const unsubscribe = await platform.ephemeral.subscribe(GONE_CHANNEL, (message) => {
    for (const identity of message.split(' ')) {
      cache.delete(identity.split(':')[0] ?? '');
      highlighter.forget(identity);
    }
  });
  return {
    platform,
    cache,
    reads,
    inserts,
    highlighter,
    reservedIds,
    close: async () => {
      // A client that went away leaves its statement behind.
      await Promise.all([reads.drain(), inserts.drain()]);
      await unsubscribe().catch((error: unknown) => platform.log.debug({ error }, 'unsubscribing failed'));
      await highlighter.close();
    },
  };
}
