// Purging 200,000 expired pastes while others are read: the p99 of reads against its idle value, on both back ends.
import { join } from 'node:path';
import pg from 'pg';
import { openEmbeddedDatabase } from '../../src/platform/embedded/open.ts';
import { load } from '../support/load.ts';
import {
  durablePostgres,
  privateRedis,
  type RunningServer,
  scratchFolder,
  startSvc,
  svc,
} from '../support/processes.ts';
import { remark, report } from '../support/report.ts';

const EXPIRED = 200_000;
const LIVE = 1_000;

export async function run(): Promise<void> {
  const [postgres, redis] = [await durablePostgres(), await privateRedis()];
  const env = { DATABASE_URL: postgres.url, REDIS_URL: redis.url };
  await svc(['migrate', 'up'], env);
  await fill({ connectionString: postgres.url });
  const server = await startSvc({ env });
  try {
    await measure('PostgreSQL', server, env);
  } finally {
    await server.stop();
    await redis.remove();
    await postgres.remove();
  }

  const scratch = scratchFolder();
  const data = { SVC_DATA_DIR: join(scratch.path, 'data') };
  const embedded = await startSvc({ env: data });
  try {
    const shared = await openEmbeddedDatabase({
      dataDir: data.SVC_DATA_DIR,
      command: 'bench',
      mode: 'share',
    });
    await fill(shared.connection);
    await shared.close();
    await measure('embedded', embedded, data);
  } finally {
    await embedded.stop();
    scratch.remove();
  }
}

async function measure(backend: string, server: RunningServer, env: Record<string, string>): Promise<void> {
  const requests = Array.from({ length: 500 }, (_, index) => ({
    path: `/api/pastes/live${String(index).padStart(6, '0')}`,
  }));
  await load({ url: server.url, connections: 8, seconds: 3, requests });
  const idle = await load({ url: server.url, connections: 8, seconds: 8, requests });
  const startedAt = performance.now();
  let purging = true;
  const purge = svc(['purge', 'pastes', '--yes', '--quiet'], env).finally(() => {
    purging = false;
  });
  const busy: number[] = [];
  let reads = 0;
  while (purging) {
    const result = await load({ url: server.url, connections: 8, seconds: 4, requests });
    busy.push(result.p99Ms);
    reads += result.ok;
  }
  await purge;
  const tookSeconds = (performance.now() - startedAt) / 1000;
  const worst = Math.max(...busy);
  report({
    name: `p99 of reads during a purge, ${backend}`,
    ratio: worst / idle.p99Ms,
    limit: { atMost: 2 },
    detail: `${worst.toFixed(1)} ms, idle ${idle.p99Ms.toFixed(1)} ms`,
  });
  remark(
    `${EXPIRED} pastes purged in ${tookSeconds.toFixed(0)} s beside ${reads} reads; p99 in 4 s slices: ${busy.map((value) => value.toFixed(1)).join(', ')} ms`,
  );
}

async function fill(target: pg.ClientConfig): Promise<void> {
  const client = new pg.Client(target);
  await client.connect();
  for (const [prefix, count, expires] of [
    ['gone', EXPIRED, "now() - interval '1 day'"],
    ['live', LIVE, "now() + interval '7 days'"],
  ] as const) {
    await client.query(
      `INSERT INTO paste (paste_id, content, language, created_at, expires_at, burn_after_read, size_bytes, delete_token_hash)
       SELECT '${prefix}' || lpad(i::text, 6, '0'), repeat('const answer = 42;' || chr(10), 20), 'typescript',
         now() - interval '8 days', ${expires}, false, 380, sha256(i::text::bytea) FROM generate_series(0, ${count - 1}) AS i`,
    );
  }
  await client.query('VACUUM ANALYZE paste');
  await client.end();
}
