// Statistics with 100 and with 1,000,000 pastes.
import pg from 'pg';
import { load } from '../support/load.ts';
import { durablePostgres, privateRedis, startSvc, svc } from '../support/processes.ts';
import { report } from '../support/report.ts';

const FEW = 100;
const MANY = 1_000_000;

export async function run(): Promise<void> {
  const [postgres, redis] = [await durablePostgres(), await privateRedis()];
  const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
  await svc(['migrate', 'up'], env);
  const server = await startSvc({ env });
  try {
    await add(postgres.url, 0, FEW);
    await sample(server.url);
    const few = await sample(server.url);
    await add(postgres.url, FEW, MANY);
    const many = await sample(server.url);
    report({
      name: 'statistics with 1,000,000 pastes against 100',
      ratio: many / few,
      limit: { atMost: 1.2 },
      detail: `${many.toFixed(2)} ms a request, ${few.toFixed(2)} ms with 100`,
    });
  } finally {
    await server.stop();
    await redis.remove();
    await postgres.remove();
  }
}

/** Mean milliseconds of a request, one at a time. */
async function sample(url: string): Promise<number> {
  const { perSecond } = await load({ url, connections: 1, seconds: 4, requests: [{ path: '/api/stats' }] });
  return 1000 / perSecond;
}

/** Adds pastes as creations do: rows, and their counts by language and day, over every shard. */
async function add(url: string, from: number, to: number): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(
    `WITH made AS (
       INSERT INTO paste (paste_id, content, language, created_at, expires_at, burn_after_read, size_bytes, delete_token_hash)
       SELECT 's' || i, 'x', 'language' || (i % 40), now(), now() + interval '7 days', false, 1, sha256(i::text::bytea)
       FROM generate_series(${from}, ${to - 1}) AS i RETURNING paste_key, language
     ), languages AS (
       INSERT INTO paste_language_count AS total SELECT language, paste_key % 32, count(*) FROM made GROUP BY 1, 2
       ON CONFLICT (language, shard) DO UPDATE SET count = total.count + excluded.count
     )
     INSERT INTO paste_day_count AS total SELECT current_date, paste_key % 32, count(*) FROM made GROUP BY 1, 2
     ON CONFLICT (day, shard) DO UPDATE SET count = total.count + excluded.count`,
  );
  await client.query('VACUUM ANALYZE');
  await client.end();
}
