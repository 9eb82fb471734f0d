// Statements that are prepared because they come again and again.
import { sql } from 'kysely';
import { afterEach, beforeEach, describe, expect, inject, it, vi } from 'vitest';
import { connectDatabase, type DatabaseConnection } from '../../../src/platform/database/connect.ts';
import { inTransaction } from '../../../src/platform/database/in-transaction.ts';
import { createLog } from '../../../src/platform/log.ts';
import { createPostgresDatabase, type TestDatabase } from '../../support/databases.ts';

const OFTEN = 8;

describe.skipIf(inject('postgresUrl') === '')('prepared statements', () => {
  let remote: TestDatabase;
  let connection: DatabaseConnection;
  const logged: string[] = [];
  beforeEach(async () => {
    logged.length = 0;
    remote = await createPostgresDatabase(inject('postgresUrl'));
    connection = connectDatabase({
      target: { url: remote.settings.DATABASE_URL ?? '' },
      poolSize: 1,
      applicationName: 'a test',
      log: await createLog({ level: 'warn', destination: { write: (line: string) => logged.push(line) } }),
    });
    await sql`CREATE TABLE thing (id integer)`.execute(connection.database);
    await sql`INSERT INTO thing VALUES (1), (2)`.execute(connection.database);
  });
  afterEach(async () => {
    await connection.close();
    await remote.remove();
  });

  const find = (id: number, database = connection.database) =>
    sql<{ id: number }>`SELECT * FROM thing WHERE id = ${id}`.execute(database).then(({ rows }) => rows);
  const findOften = async () => {
    for (let time = 0; time < OFTEN; time++) await find(1);
  };
  const prepared = async () =>
    (
      await sql<{ statement: string }>`SELECT statement FROM pg_prepared_statements`.execute(
        connection.database,
      )
    ).rows.map(({ statement }) => statement);

  it('are those that came a few times, with values apart from their text', async () => {
    for (let time = 0; time < OFTEN; time++) {
      await find(time);
      await sql`SELECT count(*) FROM thing`.execute(connection.database);
      await sql`SELECT ${sql.raw(String(time))}::integer = ${time}::integer`.execute(connection.database);
    }
    expect(await prepared()).toEqual(['SELECT * FROM thing WHERE id = $1']);
    expect(await find(2)).toEqual([{ id: 2 }]);
    expect(await find(3)).toEqual([]);
  });

  it('fail as others do', async () => {
    const divide = (by: number) => sql`SELECT 1 / ${by}::integer`.execute(connection.database);
    for (let time = 0; time < OFTEN; time++) await divide(1);
    await expect(divide(0)).rejects.toMatchObject({ code: '22012' });
    await divide(1);
  });

  it('are prepared anew when their table changes under them', async () => {
    await findOften();
    await sql`ALTER TABLE thing ADD COLUMN name text DEFAULT 'new'`.execute(connection.database);
    expect(await find(1)).toEqual([{ id: 1, name: 'new' }]);
    await findOften();
    expect(await prepared()).toHaveLength(2);
  });

  it('that were good no more end no transaction', async () => {
    await findOften();
    await sql`ALTER TABLE thing ADD COLUMN name text`.execute(connection.database);
    let attempts = 0;
    const rows = await inTransaction(connection.database, (transaction) => {
      attempts++;
      return find(2, transaction as unknown as typeof connection.database);
    });
    expect([attempts, rows]).toEqual([2, [{ id: 2, name: null }]]);
  });

  it('are planned again after a while, for tables that have grown', async () => {
    vi.useFakeTimers({ toFake: ['performance'] });
    try {
      await sql`CREATE INDEX ON thing (id)`.execute(connection.database);
      await findOften();
      await findOften();
      const { rows } = await sql<{ name: string }>`SELECT name FROM pg_prepared_statements`.execute(
        connection.database,
      );
      const plan = async () =>
        JSON.stringify(
          (await sql`EXPLAIN EXECUTE ${sql.raw(rows[0]?.name ?? '')}(1)`.execute(connection.database)).rows,
        );
      await sql`INSERT INTO thing SELECT generate_series(3, 20000)`.execute(connection.database);
      expect(await plan()).toContain('Seq Scan');
      vi.advanceTimersByTime(60_000);
      expect(await find(1)).toEqual([{ id: 1 }]);
      expect(await plan()).toContain('Index');
    } finally {
      vi.useRealTimers();
    }
  });

  it('are given up, and said to be, behind a pooler that does not keep them', async () => {
    await findOften();
    // What a pooler does that gives each transaction another connection.
    await sql`DEALLOCATE ALL`.execute(connection.database);
    expect(await find(1)).toEqual([{ id: 1 }]);
    await findOften();
    expect(await prepared()).toEqual([]);
    expect(logged.filter((line) => line.includes('pooler'))).toHaveLength(1);
  });

  it('are given up as well when the pooler has them from another process', async () => {
    await findOften();
    const [name] = (
      await sql<{ name: string }>`SELECT name FROM pg_prepared_statements`.execute(connection.database)
    ).rows;
    // The name says the text, so whatever stands behind it is the same.
    expect(name?.name).toMatch(/^svc_0_[0-9a-f]{32}$/);
    const other = connectDatabase({
      target: { url: remote.settings.DATABASE_URL ?? '' },
      poolSize: 1,
      applicationName: 'another process',
      log: await createLog({ level: 'silent' }),
    });
    try {
      await sql`PREPARE ${sql.raw(name?.name ?? '')} AS SELECT * FROM thing WHERE id = $1`.execute(
        other.database,
      );
      for (let time = 0; time < OFTEN; time++) expect(await find(2, other.database)).toEqual([{ id: 2 }]);
    } finally {
      await other.close();
    }
  });
});
