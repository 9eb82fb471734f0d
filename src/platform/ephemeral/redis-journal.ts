// A journal over a Redis stream. Positions are the stream's own ids, which only grow.
import type { Cluster, Redis } from 'ioredis';
import type { Journal, JournalEntry } from './store.ts';

// Nobody may be there to write the journal down; what Redis holds for us stays bounded.
const MOST_ENTRIES = 20_000;

const APPEND = `
if redis.call('XLEN', KEYS[1]) >= ${MOST_ENTRIES} then return false end
return redis.call('XADD', KEYS[1], '*', 'e', ARGV[1])
`;

/** The journal under a key. */
export function redisJournal(connection: Redis | Cluster, key: string): Journal {
  return {
    append: async (entry) => (await connection.eval(APPEND, 1, key, entry)) !== null,
    readAfter: async (position, most) => {
      const entries = await connection.xrange(key, `(${position}`, '+', 'COUNT', most);
      return entries.map(([id, fields]): JournalEntry => ({ position: id, entry: fields[1] ?? '' }));
    },
    forgetUpTo: async (position) => {
      await connection.xtrim(key, 'MINID', '=', after(position));
    },
  };
}

/** The least position beyond another. */
function after(position: string): string {
  const [milliseconds = '0', sequence = '0'] = position.split('-');
  return `${milliseconds}-${BigInt(sequence) + 1n}`;
}
