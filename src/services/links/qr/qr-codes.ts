// QR codes of short URLs, drawn once in a worker thread and kept.
import { LRUCache } from 'lru-cache';
import { Piscina } from 'piscina';
import { Overloaded } from '../../../platform/overloaded.ts';
import { siblingModule } from '../../../platform/sibling-module.ts';

export type QrFormat = 'png' | 'svg';

export interface QrCodes {
  /**
   * Draws a text.
   *
   * @throws {Overloaded} when too many are waiting to be drawn
   */
  draw(text: string, format: QrFormat): Promise<Uint8Array>;
  close(): Promise<void>;
}

const CACHE_BYTES = 8 * 1024 * 1024;
const MOST_WAITING = 100;

/** Makes the drawer of a process; its thread starts with the first code. */
export function createQrCodes(): QrCodes {
  const drawn = new LRUCache<string, Uint8Array>({
    maxSize: CACHE_BYTES,
    sizeCalculation: (image, key) => image.byteLength + key.length,
  });
  let workers: Piscina | undefined;

  return {
    draw: async (text, format) => {
      const key = `${format} ${text}`;
      const kept = drawn.get(key);
      if (kept) return kept;
      workers ??= new Piscina({
        filename: siblingModule(import.meta.url, './draw-qr').href,
        minThreads: 0,
        maxThreads: 1,
        idleTimeout: 30_000,
      });
      if (workers.queueSize >= MOST_WAITING) throw new Overloaded('too many QR codes are being drawn');
      const image: Uint8Array = await workers.run(text, { name: format });
      drawn.set(key, image);
      return image;
    },
    close: async () => {
      await workers?.destroy();
    },
  };
}
