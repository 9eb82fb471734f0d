// One driver for both back ends: pg, to a PostgreSQL server or to the socket of the embedded database.
import { CamelCasePlugin, Kysely, PostgresAdapter, PostgresDialect } from 'kysely';
import pg from 'pg';
import type { Log } from '../log.ts';
import { createStatementNames, preparingClient } from './prepared-statements.ts';
import type { Tables } from './tables.ts';

export type Database = Kysely<Tables>;

export interface DatabaseConnection {
  database: Database;
  /** For the few things that need a connection of their own, such as a session advisory lock. */
  pool: pg.Pool;
  close(): Promise<void>;
}

export interface ConnectionTarget {
  /** PostgreSQL URL, or the socket of the embedded database. */
  target: { url: string } | { host: string; port: number; user: string; database: string };
  poolSize: number;
  /** Shown in pg_stat_activity, so that the holder of a lock has a name. */
  applicationName: string;
  log: Log;
}

const types = new pg.TypeOverrides();
types.setTypeParser(pg.types.builtins.INT8, Number);
types.setTypeParser(pg.types.builtins.DATE, String);

/** Kysely's own migration lock is one of a session, which the embedded database has none of; migrate.ts takes another. */
class AdapterWithoutMigrationLock extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {}
  override async releaseMigrationLock(): Promise<void> {}
}

class Dialect extends PostgresDialect {
  override createAdapter(): PostgresAdapter {
    return new AdapterWithoutMigrationLock();
  }
}

/** Opens a pool; nothing is connected before the first query. */
export function connectDatabase({
  target,
  poolSize,
  applicationName,
  log,
}: ConnectionTarget): DatabaseConnection {
  const pool = new pg.Pool({
    ...('url' in target ? { connectionString: target.url } : target),
    max: poolSize,
    application_name: applicationName,
    types,
    // The embedded database is one session that all clients share, which has no place for their statements.
    ...('url' in target && { Client: preparingClient(createStatementNames(log)) }),
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
    // A server that vanished without a word must not hold requests for ever.
    query_timeout: 60_000,
    idleTimeoutMillis: 60_000,
  });
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on('error', (error) => log.warn({ error: error.message }, 'a database connection was lost'));
  // A connection that breaks while a query runs rejects that query, and says it a second time as an event.
  pool.on('connect', (client) => client.on('error', () => {}));
  const database = new Kysely<Tables>({
    dialect: new Dialect({ pool }),
    plugins: [new CamelCasePlugin({ maintainNestedObjectKeys: true })],
  });
  let closing: Promise<void> | undefined;
  return { database, pool, close: () => (closing ??= database.destroy()) };
}
