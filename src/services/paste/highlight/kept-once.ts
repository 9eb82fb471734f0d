// A cache bounded by bytes in which a value is made once, however many ask for it at the same time.
import { LRUCache } from 'lru-cache';

export interface KeptOnce<Value> {
  /** The kept value, or the one being made, or a new one; without a key always a new one. */
  get(key: string | undefined, make: () => Promise<Value>): Promise<Value>;
  /** Drops a kept value; one that is being made reaches those who wait for it and is not kept. */
  forget(key: string): void;
}

/**
 * @param maxBytes of all values together; a larger value is never kept
 * @param bytesOf the size of a value
 * @param isLasting whether a value is worth keeping
 */
export function createKeptOnce<Value extends object>(
  maxBytes: number,
  bytesOf: (value: Value) => number,
  isLasting: (value: Value) => boolean,
): KeptOnce<Value> {
  const kept = new LRUCache<string, Value>({ maxSize: maxBytes, sizeCalculation: bytesOf });
  const underWay = new Map<string, Promise<Value>>();

  async function makeAndKeep(key: string, make: () => Promise<Value>): Promise<Value> {
    const made = make();
    underWay.set(key, made);
    try {
      const value = await made;
      if (underWay.get(key) === made && isLasting(value)) kept.set(key, value);
      return value;
    } finally {
      if (underWay.get(key) === made) underWay.delete(key);
    }
  }

  return {
    async get(key, make) {
      if (key === undefined) return make();
      return kept.get(key) ?? underWay.get(key) ?? makeAndKeep(key, make);
    },
    forget(key) {
      kept.delete(key);
      underWay.delete(key);
    },
  };
}
