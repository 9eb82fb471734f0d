// Turns of one process at each board: what waits for the same row waits here, where it costs nothing, and not with a
// connection in hand. Only an order, no lock: that is the database's.
import { LRUCache } from 'lru-cache';

export interface BoardTurns {
  /**
   * Runs work when those before it at the same board are done.
   *
   * @param id - the board, or something on it whose board has been learned
   */
  take<T>(id: string, work: () => Promise<T>): Promise<T>;
  /** Remembers on which board something lies; nothing ever moves to another. */
  learn(id: string, boardId: string): void;
}

const MOST_KNOWN = 100_000;

/** Makes the turns of a process. */
export function createBoardTurns(): BoardTurns {
  const boardOf = new LRUCache<string, string>({ max: MOST_KNOWN });
  const last = new Map<string, Promise<unknown>>();
  return {
    take: async (id, work) => {
      const key = boardOf.get(id) ?? id;
      const before = last.get(key);
      const mine = before ? before.then(work, work) : work();
      last.set(key, mine);
      try {
        return await mine;
      } finally {
        if (last.get(key) === mine) last.delete(key);
      }
    },
    learn: (id, boardId) => boardOf.set(id, boardId),
  };
}
