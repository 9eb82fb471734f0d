// Reads with exact durable counts, and creations, on PostgreSQL, against a naive handler on the same tables.
import pg from 'pg';
import { load } from '../support/load.ts';
import { durablePostgres, privateRedis, startPeer, startSvc, svc } from '../support/processes.ts';
import { median, remark, report } from '../support/report.ts';

const SPREAD = 10_000;
const ROUNDS = 2;
const JSON_HEADERS = { 'content-type': 'application/json' };

export async function run(): Promise<void> {
  const [postgres, redis] = [await durablePostgres(), await privateRedis()];
  const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
  await svc(['migrate', 'up'], env);
  await fill(postgres.url);
  const ours = await startSvc({ env });
  const naive = await startPeer('naive-paste.ts', env);
  try {
    const hot = [{ path: '/api/pastes/bench000000' }];
    const spread = Array.from({ length: 2_000 }, () => ({
      path: `/api/pastes/${idOf(Math.floor(Math.random() * SPREAD))}`,
    }));
    const body = JSON.stringify({
      content: 'const answer = 42;\n'.repeat(20),
      language: 'typescript',
      expiresIn: '1w',
    });
    const create = [{ method: 'POST' as const, path: '/api/pastes', body, headers: JSON_HEADERS }];

    await compare('reads of one hot paste', hot, 2);
    await compare('reads spread over 10,000 pastes', spread, 1);
    await compare('creations', create, 0.7);

    async function compare(
      name: string,
      requests: typeof hot | typeof create,
      atLeast: number,
    ): Promise<void> {
      const rates: { ours: number[]; naive: number[] } = { ours: [], naive: [] };
      for (let round = 0; round < ROUNDS; round++) {
        const before = await sumOfCounts(postgres.url);
        const theirs = await load({ url: naive.url, requests });
        const between = await sumOfCounts(postgres.url);
        const mine = await load({ url: ours.url, requests });
        const after = await sumOfCounts(postgres.url);
        rates.naive.push(theirs.perSecond);
        rates.ours.push(mine.perSecond);
        if (requests !== create && (between - before < theirs.ok || after - between < mine.ok)) {
          throw new Error('reads were answered that are not in the database');
        }
      }
      const [mine, theirs] = [median(rates.ours), median(rates.naive)];
      report({
        name,
        ratio: mine / theirs,
        limit: { atLeast },
        detail: `${mine.toFixed(0)}/s, naive ${theirs.toFixed(0)}/s`,
      });
    }
    remark('64 connections, one client process; every count read back from the tables');
  } finally {
    await ours.stop();
    await naive.stop();
    await redis.remove();
    await postgres.remove();
  }
}

function idOf(index: number): string {
  return `bench${String(index).padStart(6, '0')}`;
}

async function fill(url: string): Promise<void> {
  await query(
    url,
    `INSERT INTO paste (paste_id, content, language, created_at, expires_at, burn_after_read, size_bytes, delete_token_hash)
     SELECT 'bench' || lpad(i::text, 6, '0'), repeat('const answer = 42;' || chr(10), 20), 'typescript', now(),
       now() + interval '7 days', false, 380, sha256(i::text::bytea) FROM generate_series(0, ${SPREAD - 1}) AS i`,
  );
  await query(url, 'VACUUM ANALYZE paste');
}

async function sumOfCounts(url: string): Promise<number> {
  const [row] = await query(url, 'SELECT sum(view_count)::bigint AS sum FROM paste');
  return Number(row?.sum);
}

async function query(url: string, text: string): Promise<Array<Record<string, unknown>>> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}
