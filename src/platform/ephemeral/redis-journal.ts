// A journal over a Redis stream. A position is the stream's name and one of its ids, which only grow for as long as the
// stream lives: a Redis that was emptied or replaced begins a new stream, under a new name, with ids that may be lower.
import { randomUUID } from 'node:crypto';
import type { Cluster, Redis } from 'ioredis';
import type { Log } from '../log.ts';
import type { Journal, JournalEntry } from './store.ts';

// Nobody may be there to write the journal down; what Redis holds for us stays bounded.
const MOST_ENTRIES = 20_000;

const BEGINNING = '0-0';

// The name is that of a consumer group which nobody reads for: it comes and goes with the stream. Streams of earlier
// versions have none.
const NAME = `
local function name()
  if redis.call('EXISTS', KEYS[1]) == 0 then return '' end
  local group = redis.call('XINFO', 'GROUPS', KEYS[1])[1]
  return group and group[2] or ''
end
`;

const APPEND = `
if redis.call('XLEN', KEYS[1]) >= ${MOST_ENTRIES} then return false end
if redis.call('EXISTS', KEYS[1]) == 0 then redis.call('XGROUP', 'CREATE', KEYS[1], ARGV[2], '0', 'MKSTREAM') end
return redis.call('XADD', KEYS[1], '*', 'e', ARGV[1])
`;

const READ_AFTER = `${NAME}
local stream = name()
local after = ARGV[1] == stream and ARGV[2] or '${BEGINNING}'
return {stream, redis.call('XRANGE', KEYS[1], '(' .. after, '+', 'COUNT', ARGV[3])}
`;

const FORGET_UP_TO = `${NAME}
if ARGV[1] ~= name() then return 0 end
return redis.call('XTRIM', KEYS[1], 'MINID', '=', ARGV[2])
`;

type Read = [stream: string, entries: Array<[id: string, fields: string[]]>];

/** The journal under a key. */
export function redisJournal(connection: Redis | Cluster, key: string, log: Log): Journal {
  return {
    append: async (entry) => (await connection.eval(APPEND, 1, key, entry, randomUUID())) !== null,
    readAfter: async (position, most) => {
      const { stream, id } = partsOf(position);
      const [found, entries] = (await connection.eval(READ_AFTER, 1, key, stream, id, most)) as Read;
      if (found !== stream && id !== BEGINNING && entries.length > 0)
        log.warn(
          { journal: key, position },
          'Redis was emptied or replaced: its journal is read from the start',
        );
      return entries.map(
        ([entryId, fields]): JournalEntry => ({ position: `${found}/${entryId}`, entry: fields[1] ?? '' }),
      );
    },
    forgetUpTo: async (position) => {
      const { stream, id } = partsOf(position);
      await connection.eval(FORGET_UP_TO, 1, key, stream, after(id));
    },
  };
}

/** Positions of earlier versions are ids alone. */
function partsOf(position: string): { stream: string; id: string } {
  const slash = position.indexOf('/');
  return { stream: position.slice(0, Math.max(0, slash)), id: position.slice(slash + 1) };
}

/** The least id beyond another. */
function after(id: string): string {
  const [milliseconds = '0', sequence = '0'] = id.split('-');
  return `${milliseconds}-${BigInt(sequence) + 1n}`;
}
