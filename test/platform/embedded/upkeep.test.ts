// What PostgreSQL's background processes would do: the log stays bounded, deleted rows give their room back.
import '../../support/short-lived-wasm.ts';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { openBackend } from '../../../src/platform/embedded/backend.ts';
import { DiskSpace } from '../../../src/platform/embedded/disk-space.ts';
import { startFront } from '../../../src/platform/embedded/front.ts';
import { ensureDatabase, findTemplate } from '../../../src/platform/embedded/template.ts';
import { firstValue, keepUp } from '../../../src/platform/embedded/upkeep.ts';
import { compilePglite } from '../../../src/platform/embedded/wasm.ts';
import { aScratchDirectory } from './support.ts';

test('rounds of upkeep bound the log and vacuum what was deleted', async () => {
  using scratch = aScratchDirectory();
  const pgdata = await ensureDatabase(scratch.path, findTemplate());
  const backend = await openBackend(pgdata, scratch.path, await compilePglite());
  const front = await startFront({
    backend,
    socketPath: join(scratch.path, 'socket'),
    diskSpace: new DiskSpace(scratch.path, 0),
    silentTransactionTimeoutMs: 5000,
    onDeath: () => {},
  });
  const value = async (sql: string) => Number(firstValue(await front.runWhenFree(sql)));
  // PostgreSQL reports what a transaction did at most once a second, unless told to.
  const reported = () => front.runWhenFree('SELECT pg_stat_force_next_flush()');
  const logFiles = () =>
    readdirSync(join(pgdata, 'pg_wal')).filter((name) => /^[0-9A-F]{24}$/.test(name)).length;

  await front.runWhenFree('CREATE TABLE row (id int, body text)');
  for (let round = 0; round < 4; round += 1) {
    await front.runWhenFree("INSERT INTO row SELECT n, repeat('x', 900) FROM generate_series(1, 40000) n");
    await keepUp(front, { vacuum: false });
  }
  // 160,000 rows of 900 bytes are 150 MiB of log, in files of 1 MiB.
  expect(logFiles()).toBeLessThan(100);

  await front.runWhenFree('DELETE FROM row');
  await reported();
  expect(await value("SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'row'")).toBe(160_000);
  await keepUp(front, { vacuum: true });
  await reported();
  expect(await value("SELECT n_dead_tup FROM pg_stat_user_tables WHERE relname = 'row'")).toBe(0);
  expect(await value("SELECT pg_relation_size('row')")).toBe(0);

  await front.close(1000);
  await backend.close();
});
