// A full disk, on a small file system of its own: writes are refused in time, and a death loses nothing acknowledged.
import '../../support/short-lived-wasm.ts';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../../../src/platform/embedded/open.ts';
import { until } from '../../support/serve.ts';
import { aClient, aScratchDirectory, rejection } from './support.ts';

/** Only root can mount a file system of a few MiB, and not in every container. */
const canMount = (() => {
  using scratch = aScratchDirectory();
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', scratch.path], { stdio: 'ignore' });
    execFileSync('umount', [scratch.path], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
})();

let scratch: ReturnType<typeof aScratchDirectory>;
let disk: string;
let dataDir: string;

beforeEach(() => {
  scratch = aScratchDirectory();
  disk = join(scratch.path, 'disk');
  dataDir = join(disk, 'data');
  mkdirSync(disk);
});

afterEach(() => {
  // Lazily, so that a test that failed with files open leaves no mount behind.
  if (canMount) execFileSync('umount', ['--lazy', disk]);
  scratch[Symbol.dispose]();
});

function mount(size: string): void {
  execFileSync('mount', ['-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', disk]);
}

function open(): Promise<EmbeddedDatabase> {
  return openEmbeddedDatabase({ dataDir, command: 'disk-full.test', mode: 'own' });
}

/** Takes that much of the disk away, in a file named `filler`. */
function fill(mebibytes: number): void {
  writeFileSync(join(disk, 'filler'), Buffer.alloc(mebibytes * 1024 * 1024, 1));
}

const INSERT = 'INSERT INTO row SELECT $1::int, repeat(md5($1::text), 32 * 256) RETURNING id';
const KEPT = 'SELECT count(*)::int AS n FROM row';

/** Inserts rows of 256 KiB, which do not compress to nothing, until one is refused. */
async function insertUntilRefused(
  client: pg.Client,
  first: number,
): Promise<{ stored: number; error: Error }> {
  for (let stored = 0; ; stored += 1) {
    try {
      await client.query(INSERT, [first + stored]);
    } catch (error) {
      if (error instanceof Error) return { stored, error };
      throw error;
    }
  }
}

test.skipIf(!canMount)(
  'writes are refused before the disk is full, reads go on, and writes again when there is room',
  async () => {
    mount('100m');
    fill(30);
    const database = await open();
    const client = await aClient(database);
    await client.query('CREATE TABLE row (id int, body text)');
    await client.query('ALTER TABLE row ALTER body SET STORAGE EXTERNAL');
    const { stored, error } = await insertUntilRefused(client, 1);
    expect(error).toMatchObject({ code: '53100', message: expect.stringContaining('disk is full') });
    expect(stored).toBeGreaterThan(5);
    expect((await client.query(KEPT)).rows).toEqual([{ n: stored }]);
    rmSync(join(disk, 'filler'));
    // The file system is looked at every 20 ms: room is noticed that late at most.
    await until(() => client.query(INSERT, [999]).then(() => true));
    const later = await insertUntilRefused(client, 1000);
    expect(later.stored).toBeGreaterThan(5);
    await client.end();
    await database.close();
    const again = await open();
    const reader = await aClient(again);
    expect((await reader.query(KEPT)).rows).toEqual([{ n: stored + 1 + later.stored }]);
    await reader.end();
    await again.close();
  },
);

test.skipIf(!canMount)(
  'a statement that outgrows the disk is undone, and the database lives on',
  async () => {
    mount('100m');
    fill(40);
    const database = await open();
    const client = await aClient(database);
    await client.query('CREATE TABLE row (id int, body text)');
    await client.query(INSERT, [1]);
    // Unlogged, so that it is the table that finds no room, not the log.
    await client.query('CREATE UNLOGGED TABLE heap (id int, body text)');
    const flood = "INSERT INTO heap SELECT n, repeat('x', 900) FROM generate_series(1, 200000) n";
    expect((await rejection(client.query(flood))).code).toBe('53100');
    expect((await client.query(KEPT)).rows).toEqual([{ n: 1 }]);
    await client.end();
    await database.close();
  },
);

test.skipIf(!canMount)(
  'a log that outgrows the disk ends the database with a reason, and nothing acknowledged is lost',
  async () => {
    mount('100m');
    fill(40);
    const database = await open();
    const client = await aClient(database);
    const bystander = await aClient(database);
    const told = new Promise<Error>((resolve) => bystander.once('error', resolve));
    await client.query('CREATE TABLE row (id int, body text)');
    await client.query(INSERT, [1]);
    // Writes to the log alone, where PostgreSQL cannot go back and panics.
    const flood =
      "SELECT pg_logical_emit_message(false, 'x', repeat('x', 1000000)) FROM generate_series(1, 100)";
    expect((await rejection(client.query(flood))).code).toBe('53100');
    expect(await told).toMatchObject({ code: '53100', hint: expect.stringContaining('free space there') });
    expect(await database.failed).toMatchObject({ code: 'DISK_FULL' });
    await database.close();
    rmSync(join(disk, 'filler'));
    const again = await open();
    const reader = await aClient(again);
    expect((await reader.query(KEPT)).rows).toEqual([{ n: 1 }]);
    await reader.end();
    await again.close();
  },
);

test.skipIf(!canMount)('a first start without room says so, and succeeds once there is some', async () => {
  mount('60m');
  fill(57);
  expect(await rejection(open())).toMatchObject({
    code: 'DISK_FULL',
    message: expect.stringContaining(dataDir),
  });
  rmSync(join(disk, 'filler'));
  const database = await open();
  await database.close();
});
