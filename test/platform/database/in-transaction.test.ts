// Transactions that PostgreSQL ends for the sake of another.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { inTransaction } from '../../../src/platform/database/in-transaction.ts';
import { backends, type TestDatabase } from '../../support/databases.ts';
import { openTestPlatform, type TestPlatform } from '../../support/test-platform.ts';

const DEADLOCK = '40P01';
const SERIALIZATION = '40001';
const DIVISION_BY_ZERO = '22012';

describe.each(backends())('on $name', (backend) => {
  let database: TestDatabase;
  let opened: TestPlatform;
  beforeAll(async () => {
    database = await backend.create();
    opened = await openTestPlatform({ database });
    const { database: own } = opened.platform;
    await sql`CREATE TABLE attempt (number integer)`.execute(own);
    await sql`
      CREATE FUNCTION raise_error(code text) RETURNS void LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION 'as asked for' USING ERRCODE = code; END $$`.execute(own);
  });
  afterAll(async () => {
    await opened.platform.close();
    await database.remove();
  });

  /** Fails as often as it is told to, after it has written; answers which attempts were kept. */
  async function failing(error: string, times: number) {
    const { database: own } = opened.platform;
    await sql`DELETE FROM attempt`.execute(own);
    let number = 0;
    const outcome = await inTransaction(own, async (transaction) => {
      number++;
      await sql`INSERT INTO attempt VALUES (${number})`.execute(transaction);
      if (number > times) return 'done';
      await sql`SELECT raise_error(${error})`.execute(transaction);
      return 'not reached';
    }).catch((thrown: { code: string }) => thrown.code);
    const { rows } = await sql<{ number: number }>`SELECT number FROM attempt`.execute(own);
    return { outcome, kept: rows.map((row) => row.number) };
  }

  test('run once more, and what was written before is gone', async () => {
    expect(await failing(DEADLOCK, 1)).toEqual({ outcome: 'done', kept: [2] });
    expect(await failing(SERIALIZATION, 1)).toEqual({ outcome: 'done', kept: [2] });
  });

  test('fail when that happens a second time, or at once for any other reason', async () => {
    expect(await failing(DEADLOCK, 2)).toEqual({ outcome: DEADLOCK, kept: [] });
    expect(await failing(DIVISION_BY_ZERO, 1)).toEqual({ outcome: DIVISION_BY_ZERO, kept: [] });
  });
});
