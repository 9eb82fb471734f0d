// Statistics of a link with ten million clicks, against those of one with a thousand.
import pg from 'pg';
import { durablePostgres, privateRedis, startSvc, svc } from '../support/processes.ts';
import { median, remark, report } from '../support/report.ts';

const MANY = 10_000_000;
const FEW = 1_000;
const ROUNDS = 200;

export async function run(): Promise<void> {
  const [postgres, redis] = [await durablePostgres(), await privateRedis()];
  const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
  await svc(['migrate', 'up'], env);
  const database = new pg.Client({ connectionString: postgres.url });
  await database.connect();
  await fill(database, 'few-clicks', FEW);
  await fill(database, 'many-clicks', MANY);
  await database.query('VACUUM ANALYZE');
  const ours = await startSvc({ env, args: ['--only', 'links'] });
  try {
    const times = { few: [] as number[], many: [] as number[] };
    for (let round = 0; round < ROUNDS; round++) {
      times.few.push(await ask(ours.linksUrl, 'few-clicks', FEW));
      times.many.push(await ask(ours.linksUrl, 'many-clicks', MANY));
    }
    // The first ones of both fill caches and compile.
    const [few, many] = [median(times.few.slice(20)), median(times.many.slice(20))];
    report({
      name: `statistics of a link with ${MANY} clicks`,
      ratio: many / few,
      limit: { atMost: 1.5 },
      detail: `${many.toFixed(2)} ms, with ${FEW} clicks ${few.toFixed(2)} ms`,
    });
    remark(
      '365 days, 250 referrers each; the counts are those that batches of clicks write, made from the raw rows',
    );
  } finally {
    await ours.stop();
    await database.end();
    await redis.remove();
    await postgres.remove();
  }
}

async function ask(url: string, code: string, clicks: number): Promise<number> {
  const startedAt = performance.now();
  const response = await fetch(`${url}/api/links/${code}/stats?days=365`);
  const { totalClicks } = (await response.json()) as { totalClicks: number };
  if (totalClicks !== clicks) throw new Error(`${code} has ${totalClicks} clicks`);
  return performance.now() - startedAt;
}

async function fill(database: pg.Client, code: string, clicks: number): Promise<void> {
  const { rows } = await database.query(
    `INSERT INTO link (short_code, original_url, created_at)
     VALUES ($1, 'https://example.com/', now() - interval '1 year') RETURNING link_key`,
    [code],
  );
  const key = rows[0].link_key;
  await database.query(
    `INSERT INTO click (link_key, clicked_at, browser, operating_system, device, referrer_host, address_hash)
     SELECT $1, now() - (i % 365) * interval '1 day', (ARRAY['Chrome', 'Firefox', 'Safari'])[1 + i % 3],
       (ARRAY['Windows', 'Linux', 'iOS'])[1 + i % 3], (ARRAY['Desktop', 'Mobile'])[1 + i % 2],
       'site' || i % 250 || '.example', md5(i::text) || 'bench'
     FROM generate_series(1, $2::int) AS i`,
    [key, clicks],
  );
  await database.query(
    `INSERT INTO click_day SELECT link_key, (clicked_at AT TIME ZONE 'UTC')::date, count(*) FROM click
     WHERE link_key = $1 GROUP BY 1, 2`,
    [key],
  );
  await database.query(
    `INSERT INTO click_summary SELECT $1, sum(clicks), jsonb_object_agg(dimension, counts) FROM (
       SELECT dimension, sum(n) AS clicks, jsonb_object_agg(name, n) AS counts FROM (
         SELECT 'browser' AS dimension, browser AS name, count(*) AS n FROM click WHERE link_key = $1 GROUP BY 2
         UNION ALL SELECT 'operatingSystem', operating_system, count(*) FROM click WHERE link_key = $1 GROUP BY 2
         UNION ALL SELECT 'device', device, count(*) FROM click WHERE link_key = $1 GROUP BY 2
         UNION ALL SELECT 'referrerHost', referrer_host, count(*) FROM click WHERE link_key = $1 GROUP BY 2
       ) AS names GROUP BY dimension
     ) AS dimensions`,
    [key],
  );
  // Each click has one name in each of the four dimensions.
  await database.query('UPDATE click_summary SET clicks = clicks / 4 WHERE link_key = $1', [key]);
}
