// Opens where an installation keeps its data: PostgreSQL, or the embedded database of a data folder.
// Nobody above this file can tell which.
import { sql } from 'kysely';
import type { Config } from './config/config.ts';
import { connectDatabase, type DatabaseConnection } from './database/connect.ts';
import { databaseUnreachable } from './database/unavailable.ts';
import type { EmbeddedDatabase } from './embedded/open.ts';
import { Failure } from './errors.ts';
import { EXIT } from './exit-codes.ts';
import type { Log } from './log.ts';

// The embedded database has one backend; more connections than its users wait for would only queue.
const EMBEDDED_POOL_SIZE = 8;
const OLDEST_SUPPORTED = 150_000;

export interface Storage extends DatabaseConnection {
  /** Set when the database is embedded. */
  embedded: EmbeddedDatabase | undefined;
}

export interface OpenStorageOptions {
  config: Config;
  /** What this process is, as others see it: `svc serve`. */
  command: string;
  log: Log;
}

/**
 * Opens the database and sees that it answers.
 *
 * @throws {Failure} DATABASE_UNREACHABLE (exit 10), DATABASE_TOO_OLD (exit 78), or what the data folder has to say
 */
export async function openStorage({ config, command, log }: OpenStorageOptions): Promise<Storage> {
  const embedded = config.databaseUrl === undefined ? await openEmbedded(config, command) : undefined;
  const connection = connectDatabase({
    target: embedded ? embedded.connection : { url: config.databaseUrl ?? '' },
    poolSize: embedded ? EMBEDDED_POOL_SIZE : config.databasePoolSize,
    applicationName: command,
    log,
  });
  const close = async () => {
    await connection.close();
    await embedded?.close();
  };
  try {
    await requireSupportedVersion(connection);
  } catch (error) {
    await close();
    throw error instanceof Failure ? error : databaseUnreachable(error, config.databaseUrl);
  }
  return { database: connection.database, pool: connection.pool, embedded, close };
}

async function openEmbedded(config: Config, command: string): Promise<EmbeddedDatabase> {
  const { openEmbeddedDatabase } = await import('./embedded/open.ts');
  return openEmbeddedDatabase({
    dataDir: config.dataDir,
    command,
    mode: config.role === 'serve' ? 'own' : 'share',
  });
}

async function requireSupportedVersion({ database }: DatabaseConnection): Promise<void> {
  const { rows } = await sql<{
    version: string;
  }>`SELECT current_setting('server_version_num') AS version`.execute(database);
  const version = Number(rows[0]?.version);
  if (version >= OLDEST_SUPPORTED) return;
  throw new Failure({
    code: 'DATABASE_TOO_OLD',
    message: `the database is PostgreSQL ${Math.floor(version / 10_000)}; svc needs 15 or newer`,
    hint: 'upgrade PostgreSQL, or name a newer one in DATABASE_URL',
    exit: EXIT.configuration,
  });
}
