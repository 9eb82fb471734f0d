import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { migrations } from '../../../migrations/index.ts';
import { migrate, requireCurrentSchema, schemaStatus } from '../../../src/platform/database/migrate.ts';
import { type Lease, withLease } from '../../../src/platform/lease.ts';
import { backends, type TestDatabase } from '../../support/databases.ts';
import { openTestPlatform, type TestPlatform } from '../../support/test-platform.ts';

describe.each(backends())('on $name', (backend) => {
  let database: TestDatabase;
  let test1: TestPlatform;
  beforeAll(async () => {
    database = await backend.create();
    test1 = await openTestPlatform({ database });
  });
  afterAll(async () => {
    await test1.platform.close();
    await database.remove();
  });
  const hold = (name: string, work: (lease: Lease) => Promise<unknown>) =>
    withLease(test1.platform, { name, command: 'a test' }, work);

  describe('a lease', () => {
    test('has one holder, and the others are told who', async () => {
      await hold('one', async () => {
        await expect(hold('one', async () => {})).rejects.toMatchObject({
          code: 'LEASE_HELD',
          exit: 11,
          message: expect.stringContaining('a test (process'),
        });
        await hold('another', async () => {});
      });
      await hold('one', async () => {});
    });

    test('goes to one of those who race', async () => {
      const outcomes = await Promise.allSettled(
        Array.from({ length: 8 }, () =>
          hold('raced', () => new Promise((resolve) => setTimeout(resolve, 100))),
        ),
      );
      expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    });

    test('ends when its work fails', async () => {
      await expect(hold('failing', async () => Promise.reject(new Error('boom')))).rejects.toThrow('boom');
      await hold('failing', async () => {});
    });

    test('of a holder that was gone too long is taken over, and the late one can write nothing', async () => {
      const { database: db } = test1.platform;
      await hold('paused', async (late) => {
        test1.clock.advance(61_000);
        await hold('paused', async () => {
          const writing = db.transaction().execute(async (transaction) => {
            await sql`INSERT INTO lease VALUES ('written too late', 't', 'h', now(), now())`.execute(
              transaction,
            );
            await late.renew(transaction);
          });
          await expect(writing).rejects.toMatchObject({ code: 'LEASE_LOST' });
        });
      });
      expect(await db.selectFrom('lease').selectAll().execute()).toEqual([]);
    });

    test('that is renewed is kept', async () => {
      await hold('renewed', async (lease) => {
        for (const _ of [1, 2, 3]) {
          test1.clock.advance(50_000);
          await lease.renew(test1.platform.database);
        }
        await expect(hold('renewed', async () => {})).rejects.toMatchObject({ code: 'LEASE_HELD' });
      });
    });
  });

  describe('migrations', () => {
    const shape = async () => {
      const { rows } = await sql`
        SELECT table_name, column_name, data_type, is_nullable, column_default FROM information_schema.columns
        WHERE table_schema = 'public' AND table_name NOT LIKE 'kysely%' ORDER BY 1, 2`.execute(
        test1.platform.database,
      );
      return rows;
    };

    test('down and up again leave the same schema', async () => {
      const { database: db } = test1.platform;
      const before = await shape();
      expect(before.length).toBeGreaterThan(20);
      for (const name of Object.keys(migrations).reverse()) {
        expect(await migrate(db, migrations, { direction: 'down' })).toEqual([{ name, direction: 'down' }]);
      }
      expect(await shape()).toEqual([]);
      expect(await migrate(db, migrations, { direction: 'down' })).toEqual([]);
      const status = await schemaStatus(db, migrations);
      expect(status).toEqual({ applied: [], pending: Object.keys(migrations), unknown: [] });
      expect(() => requireCurrentSchema(status)).toThrow(
        expect.objectContaining({ exit: 12, hint: 'svc migrate up' }),
      );
      expect(await migrate(db, migrations, { direction: 'up', dryRun: true })).toHaveLength(
        Object.keys(migrations).length,
      );
      expect(await shape()).toEqual([]);
      await migrate(db, migrations, { direction: 'up' });
      expect(await shape()).toEqual(before);
    });

    test('of a newer program are refused', async () => {
      const { database: db } = test1.platform;
      const newer = { ...migrations, '9999_future': { up: async () => {} } };
      await migrate(db, newer, { direction: 'up' });
      const status = await schemaStatus(db, migrations);
      expect(() => requireCurrentSchema(status)).toThrow(expect.objectContaining({ exit: 14 }));
      await expect(migrate(db, migrations, { direction: 'up' })).rejects.toMatchObject({
        code: 'SCHEMA_NEWER',
      });
      await sql`DELETE FROM kysely_migration WHERE name = '9999_future'`.execute(db);
    });

    test('that fail change nothing', async () => {
      const { database: db } = test1.platform;
      const before = await shape();
      const failing = {
        ...migrations,
        '9998_fails': {
          up: async (transaction: Parameters<(typeof migrations)[string]['up']>[0]) => {
            await sql`CREATE TABLE half_done (x int)`.execute(transaction);
            throw new Error('no further');
          },
        },
      };
      await expect(migrate(db, failing, { direction: 'up' })).rejects.toMatchObject({
        code: 'MIGRATION_FAILED',
        message: expect.stringContaining('no further'),
      });
      expect(await shape()).toEqual(before);
    });
  });
});

test.skipIf(inject('postgresUrl') === '')(
  'a second migrator on PostgreSQL is told who migrates',
  async () => {
    const backend = backends().find(({ name }) => name === 'PostgreSQL');
    const database = await backend?.create();
    if (!database) throw new Error('there is no PostgreSQL');
    const { platform } = await openTestPlatform({ database });
    const slow = { ...migrations, '9999_slow': { up: () => inTheMiddle.promise } };
    const inTheMiddle = Promise.withResolvers<void>();
    const first = migrate(platform.database, slow, { direction: 'up' });
    await expect
      .poll(
        async () =>
          (await sql`SELECT 1 FROM pg_locks WHERE locktype = 'advisory'`.execute(platform.database)).rows
            .length,
      )
      .toBeGreaterThan(0);
    await expect(migrate(platform.database, slow, { direction: 'up' })).rejects.toMatchObject({
      code: 'MIGRATION_LOCKED',
      exit: 11,
      message: expect.stringContaining('a test on'),
    });
    inTheMiddle.resolve();
    await first;
    await platform.close();
    await database.remove();
  },
);
