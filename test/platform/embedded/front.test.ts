// The front before the one backend, with real clients of the `pg` package on its real socket.
import '../../support/short-lived-wasm.ts';
import pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../../../src/platform/embedded/open.ts';
import { encodeQuery } from '../../../src/platform/embedded/wire.ts';
import { aClient, aScratchDirectory, RawConnection, rejection } from './support.ts';

const scratch = aScratchDirectory();
let database: EmbeddedDatabase;
let pool: pg.Pool;

beforeAll(async () => {
  database = await openEmbeddedDatabase({
    dataDir: scratch.path,
    command: 'front.test',
    mode: 'own',
    silentTransactionTimeoutMs: 300,
  });
  pool = new pg.Pool({ ...database.connection, max: 16 });
  pool.on('error', () => {});
  await pool.query('CREATE TABLE entry (id int PRIMARY KEY, owner text NOT NULL, body text)');
});

afterAll(async () => {
  await pool.end();
  await database.close();
  scratch[Symbol.dispose]();
});

/** Runs something in a transaction of its own client. */
async function inTransaction<T>(work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  try {
    await client.query('BEGIN');
    const result = await work(client);
    await client.query('COMMIT');
    return result;
  } catch (error) {
    await client.query('ROLLBACK');
    throw error;
  } finally {
    client.release();
  }
}

async function countOf(owner: string): Promise<number> {
  const { rows } = await pool.query('SELECT count(*)::int AS n FROM entry WHERE owner = $1', [owner]);
  return rows[0].n;
}

describe('mixed concurrent clients', () => {
  test('each of 16 clients gets the answers to its own parameterised queries', async () => {
    const clients = Array.from({ length: 16 }, async (_, who) => {
      const wrong: unknown[] = [];
      for (let turn = 0; turn < 60; turn += 1) {
        const { rows } = await pool.query('SELECT $1::text AS who, generate_series(1, $2::int) AS n', [
          `${who}/${turn}`,
          1 + (turn % 5),
        ]);
        const right = rows.length === 1 + (turn % 5) && rows.every((row) => row.who === `${who}/${turn}`);
        if (!right) wrong.push(rows);
      }
      return wrong;
    });
    expect((await Promise.all(clients)).flat()).toEqual([]);
  });

  test('transactions, single statements and failing ones do not meet in each other', async () => {
    const writers = Array.from({ length: 8 }, (_, who) =>
      Promise.all(
        Array.from({ length: 6 }, async (_, turn) => {
          const id = 1000 + who * 100 + turn * 2;
          if (turn % 3 === 2) {
            const attempt = inTransaction(async (client) => {
              await client.query('INSERT INTO entry VALUES ($1, $2)', [id, `mixed-${who}`]);
              await client.query('SELECT 1 / $1::int', [0]);
            });
            return (await rejection(attempt)).code;
          }
          if (turn % 3 === 1) {
            await pool.query('INSERT INTO entry VALUES ($1, $2)', [id, `mixed-${who}`]);
            return 'single';
          }
          return inTransaction(async (client) => {
            await client.query('INSERT INTO entry VALUES ($1, $2)', [id, `mixed-${who}`]);
            const { rows } = await client.query('SELECT owner FROM entry WHERE id = $1', [id]);
            await client.query('INSERT INTO entry VALUES ($1, $2)', [id + 1, rows[0].owner]);
            return 'transaction';
          });
        }),
      ),
    );
    const outcomes = (await Promise.all(writers)).flat();
    expect(outcomes.filter((outcome) => outcome === '22012')).toHaveLength(16);
    // Two transactions of two rows and two single rows for each writer; nothing of the failed ones.
    const { rows } = await pool.query(
      "SELECT owner, count(*)::int AS n FROM entry WHERE owner LIKE 'mixed-%' GROUP BY owner ORDER BY owner",
    );
    expect(rows).toEqual(Array.from({ length: 8 }, (_, who) => ({ owner: `mixed-${who}`, n: 6 })));
  });

  test('parameters of 1 MiB come back whole to the client that sent them', async () => {
    const texts = Array.from({ length: 6 }, (_, who) => `${who}`.repeat(1024 * 1024));
    const answers = await Promise.all(texts.map((text) => pool.query('SELECT $1::text AS text', [text])));
    expect(answers.map(({ rows }, who) => rows[0].text === texts[who])).toEqual(texts.map(() => true));
  });

  test('a counter incremented by many clients loses nothing', async () => {
    await pool.query("INSERT INTO entry VALUES (1, 'counter', '0')");
    const increment = 'UPDATE entry SET body = (body::int + 1)::text WHERE id = 1 RETURNING body::int AS n';
    const answers = await Promise.all(Array.from({ length: 200 }, () => pool.query(increment)));
    const values = answers.map(({ rows }) => rows[0].n).sort((a, b) => a - b);
    expect(values).toEqual(Array.from({ length: 200 }, (_, index) => index + 1));
  });

  test('a client with many requests does not keep another one waiting for all of them', async () => {
    const greedy = await RawConnection.begun(database.connection.host);
    const modest = await aClient(database);
    const query = encodeQuery('SELECT count(*) FROM generate_series(1, 20000)');
    greedy.send(...Array.from({ length: 200 }, () => query));
    await greedy.until('Z');
    await modest.query('SELECT 1');
    const answeredBefore = greedy.messages.filter(({ type }) => type === 'Z').length;
    for (let answer = 1; answer < 200; answer += 1) await greedy.until('Z');
    expect(answeredBefore).toBeLessThan(100);
    greedy.socket.destroy();
    await modest.end();
  });
});

describe('errors', () => {
  test('an error leaves the connection usable, with and without parameters', async () => {
    const client = await aClient(database);
    expect((await rejection(client.query('SELEKT'))).code).toBe('42601');
    expect((await rejection(client.query('SELECT $1::int', ['x']))).code).toBe('22P02');
    expect((await client.query('SELECT $1::int AS n', [7])).rows).toEqual([{ n: 7 }]);
    await client.end();
  });

  test('after an error in a transaction only ROLLBACK is accepted, as on PostgreSQL', async () => {
    const client = await aClient(database);
    await client.query('BEGIN');
    await client.query("INSERT INTO entry VALUES (2, 'aborted')");
    await rejection(client.query('SELECT 1 / $1::int', [0]));
    expect((await rejection(client.query('SELECT 1'))).code).toBe('25P02');
    await client.query('ROLLBACK');
    expect(await countOf('aborted')).toBe(0);
    await client.end();
  });

  test.each([
    ['LISTEN news'],
    ['UNLISTEN *'],
    ['BEGIN; LISTEN news; COMMIT'],
    ['PREPARE one AS SELECT 1'],
    ['COPY entry FROM STDIN'],
    ['COPY entry TO STDOUT'],
    ['/* a comment */ copy entry from stdin'],
    ["SELECT ';'; copy entry from stdin"],
    ["SET work_mem = '1MB'"],
    ['RESET ALL'],
    ['SELECT pg_advisory_lock(1)'],
    ['SELECT pg_try_advisory_lock (1)'],
    ['CREATE TEMP TABLE scratch (id int)'],
    ['DECLARE c CURSOR WITH HOLD FOR SELECT 1'],
  ])('%s is refused with a reason, and the client goes on', async (sql) => {
    const client = await aClient(database);
    const simple = await rejection(client.query(sql));
    expect(simple).toMatchObject({ code: '0A000', hint: expect.any(String) });
    expect(simple.message).toContain('embedded database');
    expect((await client.query('SELECT $1::int AS n', [1])).rows).toEqual([{ n: 1 }]);
    await client.end();
  });

  test('a refused statement aborts the transaction it is in', async () => {
    const client = await aClient(database);
    await client.query('BEGIN');
    await client.query("INSERT INTO entry VALUES (3, 'refused')");
    await rejection(client.query('COPY entry FROM STDIN'));
    await client.query('COMMIT');
    expect(await countOf('refused')).toBe(0);
    await client.end();
  });

  test('a named statement is refused, and the same query without a name runs', async () => {
    const client = await aClient(database);
    const named = await rejection(client.query({ name: 'mine', text: 'SELECT $1::int AS n', values: [1] }));
    expect(named).toMatchObject({
      code: '0A000',
      message: expect.stringContaining('named prepared statements'),
    });
    expect((await client.query({ text: 'SELECT $1::int AS n', values: [1] })).rows).toEqual([{ n: 1 }]);
    await client.end();
  });

  test('SET LOCAL and transaction-level advisory locks work inside a transaction, and end with it', async () => {
    const inside = await inTransaction(async (client) => {
      await client.query("SET LOCAL work_mem = '1MB'");
      await client.query('SELECT pg_advisory_xact_lock(42)');
      return client.query('SHOW work_mem');
    });
    const after = await pool.query('SHOW work_mem');
    expect([inside.rows[0].work_mem, after.rows[0].work_mem]).toEqual(['1MB', '4MB']);
  });
});

describe('clients that die or fall silent', () => {
  test('what a client left in its transaction is rolled back when its socket is destroyed', async () => {
    const client = await aClient(database);
    await client.query('BEGIN');
    await client.query("INSERT INTO entry VALUES (4, 'died in transaction')");
    destroy(client);
    expect(await countOf('died in transaction')).toBe(0);
  });

  test('a client killed during its query does not disturb the next ones', async () => {
    const client = await aClient(database);
    await client.query('BEGIN');
    await client.query("INSERT INTO entry VALUES (5, 'died in query')");
    client.query('SELECT pg_sleep(0.2)').catch(() => {});
    setImmediate(() => destroy(client));
    const answers = await Promise.all([1, 2, 3].map((n) => pool.query('SELECT $1::int AS n', [n])));
    expect(answers.map(({ rows }) => rows[0].n)).toEqual([1, 2, 3]);
    expect(await countOf('died in query')).toBe(0);
  });

  test('a client that is silent in a transaction is dropped with a reason, and its work rolled back', async () => {
    const client = await aClient(database);
    const lost = new Promise<Error & { code?: string }>((resolve) => client.once('error', resolve));
    await client.query('BEGIN');
    await client.query("INSERT INTO entry VALUES (6, 'silent')");
    // Waits behind the silent client, and gets its turn.
    const waiting = countOf('silent');
    expect(await lost).toMatchObject({ code: '25P03', message: expect.stringContaining('silent') });
    expect(await waiting).toBe(0);
  });

  test('a client that keeps talking may stay in its transaction longer than the silence allowed', async () => {
    const rows = await inTransaction(async (client) => {
      for (let turn = 0; turn < 5; turn += 1) await client.query('SELECT pg_sleep(0.1)');
      return (await client.query('SELECT 1 AS n')).rows;
    });
    expect(rows).toEqual([{ n: 1 }]);
  });

  test('a client that is silent outside a transaction stays', async () => {
    const client = await aClient(database);
    await client.query('SELECT 1');
    await pool.query('SELECT pg_sleep(0.4)');
    expect((await client.query('SELECT 2 AS n')).rows).toEqual([{ n: 2 }]);
    await client.end();
  });
});

function destroy(client: pg.Client): void {
  // `pg` has no public way to lose a connection without a goodbye.
  const { connection }: { connection?: { stream: { destroy(): void } } } = Object(client);
  connection?.stream.destroy();
}
