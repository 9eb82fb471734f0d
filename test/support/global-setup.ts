// Before all tests: finds or starts the servers they run against, and says what is missing and what is skipped for it.
import pg from 'pg';
import type { TestProject } from 'vitest/node';
import { migrations } from '../../migrations/index.ts';
import { connectDatabase } from '../../src/platform/database/connect.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { createLog } from '../../src/platform/log.ts';
import {
  findPostgres,
  findProgram,
  type PrivateService,
  startPostgres,
  startRedis,
} from './private-services.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of a PostgreSQL where tests may create databases; empty when there is none. */
    postgresUrl: string;
    /** Folder of PostgreSQL's programs, for tests that start and kill one; empty when there is none. */
    postgresBin: string;
    redisUrl: string;
    redisServer: string;
    chromium: string;
  }
}

/** Database that each test's own is cloned from. */
export const TEMPLATE_DATABASE = 'svc_test_template';

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const started: PrivateService[] = [];
  const missing: string[] = [];

  const postgresBin = findPostgres();
  let postgresUrl = process.env.TEST_DATABASE_URL;
  if (!postgresUrl && postgresBin) {
    const postgres = await startPostgres(postgresBin);
    started.push(postgres);
    postgresUrl = postgres.url;
  }
  if (postgresUrl) await makeTemplate(postgresUrl);
  else missing.push('PostgreSQL 15 or newer (install it or set TEST_DATABASE_URL): tests on PostgreSQL');
  if (!postgresBin)
    missing.push("PostgreSQL's programs (Debian: postgresql): tests that kill and restart it");

  const redisServer = findProgram(['redis-server', 'valkey-server']);
  let redisUrl = process.env.TEST_REDIS_URL;
  if (!redisUrl && redisServer) {
    const redis = await startRedis(redisServer);
    started.push(redis);
    redisUrl = redis.url;
  }
  if (!redisUrl) missing.push('Redis (install redis-server or set TEST_REDIS_URL): tests on Redis');
  if (!redisServer) missing.push('redis-server: tests that kill and restart it');

  const chromium =
    process.env.CHROMIUM_PATH ?? findProgram(['chromium', 'chromium-browser', 'google-chrome']);
  if (!chromium) missing.push('Chromium (install chromium or set CHROMIUM_PATH): tests in a browser');

  for (const line of missing) process.stdout.write(`skipped for want of ${line}\n`);
  if (missing.length > 0 && process.env.CI === 'true') {
    for (const service of started) await service.remove();
    throw new Error(`CI=true: nothing may be skipped, but this is missing:\n  ${missing.join('\n  ')}`);
  }
  project.provide('postgresUrl', postgresUrl ?? '');
  project.provide('postgresBin', postgresBin ?? '');
  project.provide('redisUrl', redisUrl ?? '');
  project.provide('redisServer', redisServer ?? '');
  project.provide('chromium', chromium ?? '');
  return async () => {
    for (const service of started) await service.remove();
  };
}

async function makeTemplate(url: string): Promise<void> {
  const admin = new pg.Client({ connectionString: url });
  await admin.connect();
  await admin.query(`DROP DATABASE IF EXISTS ${TEMPLATE_DATABASE}`);
  await admin.query(`CREATE DATABASE ${TEMPLATE_DATABASE}`);
  await admin.end();
  const templateUrl = new URL(url);
  templateUrl.pathname = `/${TEMPLATE_DATABASE}`;
  const connection = connectDatabase({
    target: { url: templateUrl.href },
    poolSize: 1,
    applicationName: 'tests',
    log: await createLog({ level: 'silent' }),
  });
  await migrate(connection.database, migrations, { direction: 'up' });
  await connection.close();
}
