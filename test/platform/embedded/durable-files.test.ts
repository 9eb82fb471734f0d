// A commit is on the disk, not only with the operating system, before it is acknowledged.
import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { afterAll, expect, test, vi } from 'vitest';
import { DurableNodeFS, durableStartParams } from '../../../src/platform/embedded/durable-files.ts';
import { removeFolder, temporaryFolder } from '../../support/databases.ts';

const folder = temporaryFolder();
afterAll(() => removeFolder(folder));

test('each commit flushes the log', async () => {
  const flush = vi.spyOn(fs, 'fdatasyncSync');
  syncBuiltinESMExports();
  const database = await PGlite.create({
    fs: new DurableNodeFS(join(folder, 'pgdata')),
    startParams: durableStartParams,
  });
  await database.exec('CREATE TABLE kept (x int)');
  for (const value of [1, 2, 3]) {
    flush.mockClear();
    await database.query('INSERT INTO kept VALUES ($1)', [value]);
    expect(flush).toHaveBeenCalled();
  }
  flush.mockClear();
  await database.query('SELECT * FROM kept');
  expect(flush).not.toHaveBeenCalled();
  expect((await database.query<{ fsync: string }>('SHOW fsync')).rows).toEqual([{ fsync: 'on' }]);
  await database.close();
  flush.mockRestore();
  syncBuiltinESMExports();
});
