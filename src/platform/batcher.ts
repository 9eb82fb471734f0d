// Group commit: what arrives while a batch is under way waits and goes as the next one. Under load many requests
// share one statement and one commit; alone, a request waits for nobody.

export interface BatcherOptions<Item, Result> {
  /** Handles a batch; answers one result an item, in the same order. */
  run: (items: Item[]) => Promise<Result[]>;
  /** Batches that may be under way at once. */
  concurrency: number;
  /** Most items of a batch. */
  maxBatch: number;
  /** Bytes of an item, and most bytes of a batch; a larger item goes alone. */
  size?: { of: (item: Item) => number; maxBytes: number };
}

interface Waiting<Item, Result> {
  item: Item;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

/** Collects single items into batches. A batch that fails rejects each of its items. */
export class Batcher<Item, Result> {
  readonly #options: BatcherOptions<Item, Result>;
  #waiting: Array<Waiting<Item, Result>> = [];
  #running = 0;

  constructor(options: BatcherOptions<Item, Result>) {
    this.#options = options;
  }

  /** Adds an item; resolves with its result once its batch is done. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      // Starting after this turn of the event loop lets requests that arrived together go together.
      if (this.#waiting.length === 1) setImmediate(() => this.#start());
    });
  }

  /** Resolves once nothing waits and nothing is under way. */
  async drain(): Promise<void> {
    while (this.#running > 0 || this.#waiting.length > 0) {
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }

  #start(): void {
    while (this.#waiting.length > 0 && this.#running < this.#options.concurrency) {
      const batch = this.#waiting.splice(0, this.#nextLength());
      this.#running++;
      this.#options
        .run(batch.map(({ item }) => item))
        .then(
          (results) => {
            batch.forEach(({ resolve, reject }, index) => {
              const result = results[index];
              if (result === undefined) reject(new Error('a batch answered fewer results than it was given'));
              else resolve(result);
            });
          },
          (error: unknown) => {
            for (const { reject } of batch) reject(error);
          },
        )
        .finally(() => {
          this.#running--;
          this.#start();
        });
    }
  }

  #nextLength(): number {
    const { maxBatch, size } = this.#options;
    if (!size) return maxBatch;
    let bytes = 0;
    for (const [index, { item }] of this.#waiting.slice(0, maxBatch).entries()) {
      bytes += size.of(item);
      if (bytes > size.maxBytes) return Math.max(1, index);
    }
    return maxBatch;
  }
}
