// The back ends that a test runs against: the embedded database always, PostgreSQL where there is one.
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject } from 'vitest';
import { TEMPLATE_DATABASE } from './global-setup.ts';

export interface TestDatabase {
  /** Settings that lead to it. */
  settings: { DATABASE_URL?: string; SVC_DATA_DIR: string };
  remove(): Promise<void>;
}

export interface Backend {
  name: 'embedded' | 'PostgreSQL';
  /** A database of its own: empty on the embedded back end, migrated on PostgreSQL. */
  create(): Promise<TestDatabase>;
}

export const embedded: Backend = {
  name: 'embedded',
  create: async () => {
    const folder = temporaryFolder();
    return { settings: { SVC_DATA_DIR: join(folder, 'data') }, remove: async () => removeFolder(folder) };
  },
};

const postgres: Backend = { name: 'PostgreSQL', create: () => createPostgresDatabase(inject('postgresUrl')) };

/** Every back end there is on this machine. */
export function backends(): Backend[] {
  return inject('postgresUrl') === '' ? [embedded] : [embedded, postgres];
}

/** The back end whose databases are made fastest, for tests to which it does not matter: PostgreSQL where there is one. */
export function fastestBackend(): Backend {
  return backends().at(-1) ?? embedded;
}

/** A new database on a PostgreSQL server; cloned from the migrated template unless told otherwise. */
export async function createPostgresDatabase(
  serverUrl: string,
  template: string = TEMPLATE_DATABASE,
): Promise<TestDatabase> {
  const name = `svc_test_${randomBytes(6).toString('hex')}`;
  const folder = temporaryFolder();
  await administer(serverUrl, `CREATE DATABASE ${name} TEMPLATE ${template}`);
  const url = new URL(serverUrl);
  url.pathname = `/${name}`;
  return {
    settings: { DATABASE_URL: url.href, SVC_DATA_DIR: join(folder, 'data') },
    remove: async () => {
      await administer(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`);
      removeFolder(folder);
    },
  };
}

/** A new folder under the system's folder for temporary files. */
export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'svc-test-'));
}

/** Removes a folder and what is in it. */
export function removeFolder(folder: string): void {
  rmSync(folder, { recursive: true, force: true });
}

async function administer(serverUrl: string, statement: string): Promise<void> {
  const client = new pg.Client({ connectionString: serverUrl });
  await client.connect();
  try {
    await client.query(statement);
  } finally {
    await client.end();
  }
}
