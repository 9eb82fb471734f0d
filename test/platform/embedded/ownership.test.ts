// Who owns a data directory, seen from several processes: races, take-overs, deaths, and directories that will not do.
import '../../support/short-lived-wasm.ts';
import { chmodSync, chownSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { DataDirHeldError } from '../../../src/platform/embedded/errors.ts';
import { tryLockDataDir } from '../../../src/platform/embedded/lock.ts';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../../../src/platform/embedded/open.ts';
import { aChildOwner } from './child-process.ts';
import { aScratchDirectory, rejection } from './support.ts';

let scratch: ReturnType<typeof aScratchDirectory>;
let dataDir: string;

beforeEach(() => {
  scratch = aScratchDirectory();
  dataDir = join(scratch.path, 'data');
});

afterEach(() => scratch[Symbol.dispose]());

const isRoot = process.geteuid?.() === 0;
const NOBODY = 65534;

function open(mode: 'own' | 'share', directory = dataDir): Promise<EmbeddedDatabase> {
  return openEmbeddedDatabase({ dataDir: directory, command: `test ${mode}`, mode });
}

async function ask(database: EmbeddedDatabase, sql: string): Promise<unknown[]> {
  const client = new pg.Client(database.connection);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describe('the lock', () => {
  test('is refused to a second holder, in the same process too, and free after release', () => {
    const first = tryLockDataDir(scratch.path);
    const second = tryLockDataDir(scratch.path);
    first?.release();
    const third = tryLockDataDir(scratch.path);
    third?.release();
    expect([first !== undefined, second, third !== undefined]).toEqual([true, undefined, true]);
  });
});

describe('one owner', () => {
  test('a new data directory and all that is in it are closed to other users', async () => {
    const database = await open('own');
    const modes = ['', 'pgdata', 'run', 'owner.json', 'run/.s.PGSQL.5432'].map((name) =>
      (statSync(join(dataDir, name)).mode & 0o777).toString(8),
    );
    await database.close();
    expect(modes).toEqual(['700', '700', '700', '600', '600']);
  });

  test('a second owner is told who holds the directory', async () => {
    const holder = aChildOwner(dataDir, 'own');
    await holder.until('open');
    const error = await rejection(open('own'));
    expect(error).toBeInstanceOf(DataDirHeldError);
    expect(error).toMatchObject({
      code: 'DATA_DIR_HELD',
      holder: { pid: holder.process.pid, command: 'child own' },
    });
    expect(error.message).toContain(`process ${holder.process.pid}`);
    await holder.stop();
  });

  test('of five processes that want to own a new directory at once, one does', async () => {
    const children = Array.from({ length: 5 }, () => aChildOwner(dataDir, 'own'));
    const outcomes = await Promise.all(children.map((child) => child.until(['open', 'failed'])));
    expect(outcomes.filter((outcome) => 'open' in outcome)).toHaveLength(1);
    expect(outcomes.flatMap((outcome) => outcome.failed ?? [])).toEqual(Array(4).fill('DATA_DIR_HELD'));
    await Promise.all(children.map((child) => child.stop()));
  });

  test('nothing is printed to standard error, however the database is opened', async () => {
    const child = aChildOwner(dataDir, 'own');
    await child.until('open');
    await child.stop();
    expect(child.errors()).toBe('');
  });

  test('closing twice is closing once, and leaves no socket and no record', async () => {
    const database = await open('own');
    await Promise.all([database.close(), database.close()]);
    expect(['owner.json', 'run/.s.PGSQL.5432'].map((name) => existsSync(join(dataDir, name)))).toEqual([
      false,
      false,
    ]);
  });

  test('what runs when the database is closed is finished first', async () => {
    const database = await open('own');
    const client = new pg.Client(database.connection);
    client.on('error', () => {});
    await client.connect();
    await client.query('CREATE TABLE kept (n int)');
    await client.query('BEGIN');
    await client.query('INSERT INTO kept VALUES (1)');
    const closed = database.close();
    await client.query('INSERT INTO kept VALUES (2)');
    await client.query('COMMIT');
    await closed;
    const again = await open('own');
    expect(await ask(again, 'SELECT count(*)::int AS n FROM kept')).toEqual([{ n: 2 }]);
    await again.close();
  });
});

describe('sharing', () => {
  test('a command joins the process that owns the directory', async () => {
    const holder = aChildOwner(dataDir, 'own');
    await holder.until('open');
    const joined = await open('share');
    expect(joined.owner).toBe(false);
    expect(await ask(joined, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    await joined.close();
    await holder.stop();
  });

  test('without an owner a command owns the directory until it is closed', async () => {
    const database = await open('share');
    expect(database.owner).toBe(true);
    expect((await rejection(open('own'))).message).toContain('test share');
    await database.close();
    await (await open('own')).close();
  });

  test('of four commands that start at once on a new directory, one owns it and all can work', async () => {
    const children = Array.from({ length: 4 }, () => aChildOwner(dataDir, 'share'));
    const opened = await Promise.all(children.map((child) => child.until('open')));
    expect(opened.filter(({ owner }) => owner)).toHaveLength(1);
    await Promise.all(children.map((child) => child.stop()));
    expect(children.map((child) => child.said.at(-1))).toEqual(Array(4).fill({ closed: true }));
  });

  test('a command that owns the directory lets the one that joined it finish', async () => {
    const owner = await open('share');
    const joined = await open('share');
    const client = new pg.Client(joined.connection);
    await client.connect();
    const closed = owner.close();
    expect((await client.query('SELECT pg_sleep(0.1), 2 AS n')).rows).toMatchObject([{ n: 2 }]);
    expect((await client.query('SELECT 3 AS n')).rows).toEqual([{ n: 3 }]);
    await client.end();
    await closed;
  });

  test('a command takes over from an owner that is just stopping', async () => {
    const holder = aChildOwner(dataDir, 'own');
    await holder.until('open');
    const stopped = holder.stop();
    const databases: EmbeddedDatabase[] = [];
    while (!databases.at(-1)?.owner) databases.push(await open('share'));
    await stopped;
    const last = databases.at(-1);
    expect(last && (await ask(last, 'SELECT 1 AS n'))).toEqual([{ n: 1 }]);
    await last?.close();
  });
});

describe('after a crash', () => {
  test('every row acknowledged before a SIGKILL is there, and the stale socket and record are no obstacle', async () => {
    const child = aChildOwner(dataDir, 'own', 'insert');
    await child.until('acknowledged', 300);
    await child.kill();
    const acknowledged = child.said.filter((value) => 'acknowledged' in value).length;
    const stale = ['owner.json', 'run/.s.PGSQL.5432'].map((name) => existsSync(join(dataDir, name)));
    const database = await open('own');
    const rows = await ask(database, 'SELECT count(*)::int AS n, max(length(body)) AS length FROM row');
    await database.close();
    expect(stale).toEqual([true, true]);
    // The row that was under way when the process died may be there or not.
    expect([acknowledged, acknowledged + 1]).toContain(Object(rows[0]).n);
    expect(rows).toMatchObject([{ length: 1000 }]);
  });

  test('a command joins no dead owner, but takes the directory over', async () => {
    const child = aChildOwner(dataDir, 'own');
    await child.until('open');
    await child.kill();
    const database = await open('share');
    expect(database.owner).toBe(true);
    await database.close();
  });

  test('a first start that was cut short is begun again', async () => {
    mkdirSync(join(dataDir, 'pgdata.partial', 'base'), { recursive: true });
    writeFileSync(join(dataDir, 'pgdata.partial', 'PG_VERSION'), '18\n');
    const database = await open('own');
    expect(await ask(database, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    expect(existsSync(join(dataDir, 'pgdata.partial'))).toBe(false);
    await database.close();
  });
});

describe('directories that are special', () => {
  test('a path too long for a socket is served from a private directory elsewhere, also after a crash', async () => {
    const long = join(dataDir, 'a-rather-long-name'.repeat(6));
    const child = aChildOwner(long, 'own');
    const { host: first } = await child.until('open');
    await child.kill();
    const owner = await open('own', long);
    const joined = await open('share', long);
    expect(joined.connection.host).toBe(owner.connection.host);
    expect(await ask(joined, 'SELECT 1 AS n')).toEqual([{ n: 1 }]);
    expect(statSync(owner.connection.host).mode & 0o777).toBe(0o700);
    await owner.close();
    expect([String(first), owner.connection.host].map((directory) => existsSync(directory))).toEqual([
      false,
      false,
    ]);
  });

  test('a socket directory that others can enter is not trusted', async () => {
    const holder = aChildOwner(dataDir, 'own');
    await holder.until('open');
    const { isTrustworthy } = await import('../../../src/platform/embedded/owner-record.ts');
    const before = isTrustworthy(join(dataDir, 'run'), dataDir);
    chmodSync(join(dataDir, 'run'), 0o777);
    expect([before, isTrustworthy(join(dataDir, 'run'), dataDir)]).toEqual([true, false]);
    await holder.stop();
  });

  test('a file in place of the directory is named as the trouble', async () => {
    writeFileSync(dataDir, '');
    const below = await rejection(open('own', join(dataDir, 'deeper')));
    expect([await rejection(open('own')), below]).toMatchObject([
      { code: 'DATA_DIR_NOT_A_DIRECTORY', message: expect.stringContaining(dataDir) },
      { code: 'DATA_DIR_NOT_A_DIRECTORY' },
    ]);
  });

  test.skipIf(!isRoot)('a directory this user cannot write is named as the trouble', async () => {
    chmodSync(scratch.path, 0o755);
    mkdirSync(dataDir, { mode: 0o755 });
    const child = aChildOwner(dataDir, 'own', '', { uid: NOBODY, gid: NOBODY });
    expect(await child.until('failed')).toMatchObject({
      failed: 'DATA_DIR_DENIED',
      message: expect.stringContaining('cannot be read and written by this user'),
    });
  });

  test.skipIf(!isRoot)('a database of another user is not touched', async () => {
    const database = await open('own');
    await database.close();
    chownSync(join(dataDir, 'pgdata'), NOBODY, NOBODY);
    expect((await rejection(open('own'))).code).toBe('DATA_DIR_FOREIGN');
  });

  test('a database of another major version is refused and left alone', async () => {
    await (await open('own')).close();
    const file = join(dataDir, 'pgdata', 'PG_VERSION');
    writeFileSync(file, '17\n');
    expect(await rejection(open('own'))).toMatchObject({
      code: 'DATABASE_VERSION',
      message: expect.stringMatching(/17/),
    });
    writeFileSync(file, '18\n');
    await (await open('own')).close();
  });

  test.each([
    ['the control file', 'global/pg_control', 'damaged'],
    ['the version file', 'PG_VERSION', ''],
  ])('a database with %s damaged is refused, and the lock is free afterwards', async (_, name, content) => {
    await (await open('own')).close();
    const file = join(dataDir, 'pgdata', name);
    const before = readFileSync(file);
    writeFileSync(file, content);
    expect((await rejection(open('own'))).code).toBe('DATABASE_CORRUPT');
    writeFileSync(file, before);
    await (await open('own')).close();
  });

  test('a database without its version file is not taken for a new one', async () => {
    mkdirSync(join(dataDir, 'pgdata'), { recursive: true });
    expect((await rejection(open('own'))).code).toBe('DATABASE_CORRUPT');
  });
});
