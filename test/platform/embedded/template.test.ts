// The prepared data directory, and what a first start makes of it.
import '../../support/short-lived-wasm.ts';
import { mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBackend } from '../../../src/platform/embedded/backend.ts';
import { ensureDatabase, prepareTemplate } from '../../../src/platform/embedded/template.ts';
import { firstValue } from '../../../src/platform/embedded/upkeep.ts';
import { compilePglite } from '../../../src/platform/embedded/wasm.ts';
import { encodeQuery } from '../../../src/platform/embedded/wire.ts';
import { aScratchDirectory } from './support.ts';

const scratch = aScratchDirectory();
const template = join(scratch.path, 'template');

beforeAll(() => prepareTemplate(template));
afterAll(() => scratch[Symbol.dispose]());

function sizeOf(directory: string): number {
  const files = readdirSync(directory, { withFileTypes: true, recursive: true }).filter((entry) =>
    entry.isFile(),
  );
  return files.reduce((sum, file) => sum + statSync(join(file.parentPath, file.name)).size, 0);
}

/** Opens a database, asks it something, and closes it. */
async function ask(pgdata: string, sql: string): Promise<string | undefined> {
  const backend = await openBackend(pgdata, pgdata, await compilePglite());
  const answer = firstValue(await backend.run(encodeQuery(sql)));
  await backend.close();
  return answer;
}

test('the template is under 10 MB', () => {
  expect(sizeOf(template)).toBeLessThan(10_000_000);
});

test('a copy is a working, empty database in UTF-8 that sorts by code points', async () => {
  const dataDir = join(scratch.path, 'copied');
  mkdirSync(dataDir);
  const sql = `SELECT concat_ws(' ', (SELECT count(*) FROM pg_stat_user_tables), current_setting('server_encoding'),
    datcollate, datctype) FROM pg_database`;
  expect(await ask(await ensureDatabase(dataDir, template), sql)).toBe('0 UTF8 C C.UTF-8');
});

test('a copy of a template that lost its empty directories is whole', async () => {
  const packed = join(scratch.path, 'packed');
  await prepareTemplate(packed);
  for (const name of readdirSync(packed)) {
    if (statSync(join(packed, name)).isDirectory() && readdirSync(join(packed, name)).length === 0) {
      rmSync(join(packed, name), { recursive: true });
    }
  }
  const dataDir = join(scratch.path, 'unpacked');
  mkdirSync(dataDir);
  expect(await ask(await ensureDatabase(dataDir, packed), 'SELECT 1')).toBe('1');
});

test('without a template the database is made from nothing, and kept afterwards', async () => {
  const dataDir = join(scratch.path, 'made');
  mkdirSync(dataDir);
  const pgdata = await ensureDatabase(dataDir, undefined);
  await ask(pgdata, 'CREATE TABLE kept AS SELECT 7 AS n');
  expect(await ask(await ensureDatabase(dataDir, template), 'SELECT n FROM kept')).toBe('7');
});
