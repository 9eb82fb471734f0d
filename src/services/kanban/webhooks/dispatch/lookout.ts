// Where a dispatcher looks next: at the queues that it was told of, and at all of them once a while.

export interface Lookout {
  /** There may be more for these; it may wait for so long, so that one look is at many. */
  lookAt(queues: Iterable<string>, withinMs?: number): void;
  /** There may be more for any. */
  lookAtAll(): void;
  /** Queues to look at now, which may be none; undefined for all. */
  take(): string[] | undefined;
  /** Ends a wait; kept while nobody waits. */
  wake(): void;
  /** Waits until woken, or until all are to be looked at again, or for so long. */
  wait(atMostMs?: number): Promise<void>;
}

/**
 * Makes a lookout.
 *
 * @param everyMs - all queues are looked at so often
 */
export function createLookout(everyMs: number): Lookout {
  const wanted = new Set<string>();
  let allAt = 0;
  let isAwake = false;
  let wakeSleeper: (() => void) | undefined;
  let soon: NodeJS.Timeout | undefined;
  const wake = () => {
    clearTimeout(soon);
    soon = undefined;
    isAwake = true;
    wakeSleeper?.();
  };
  return {
    lookAt: (queues, withinMs = 0) => {
      for (const queue of queues) wanted.add(queue);
      if (withinMs === 0) wake();
      else soon ??= setTimeout(wake, withinMs);
    },
    lookAtAll: () => {
      allAt = 0;
      wake();
    },
    take: () => {
      const isAll = performance.now() >= allAt;
      if (isAll) allAt = performance.now() + everyMs;
      const queues = isAll ? undefined : [...wanted];
      wanted.clear();
      return queues;
    },
    wake,
    wait: async (atMostMs) => {
      if (!isAwake) {
        let timer: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          wakeSleeper = resolve;
          const untilAll = allAt - performance.now();
          timer = setTimeout(resolve, atMostMs ?? (untilAll > 0 ? untilAll : everyMs));
        });
        clearTimeout(timer);
        wakeSleeper = undefined;
      }
      isAwake = false;
    },
  };
}
