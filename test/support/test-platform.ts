// A real platform for tests: real database, real store, and a clock that stands still until it is told to move.
import { setFlagsFromString } from 'node:v8';
import { migrations } from '../../migrations/index.ts';
import type { Clock } from '../../src/platform/clock.ts';
import { makeConfig, type Role } from '../../src/platform/config/config.ts';
import { loadSettings } from '../../src/platform/config/load.ts';
import { migrate } from '../../src/platform/database/migrate.ts';
import { createLog } from '../../src/platform/log.ts';
import { openPlatform, type Platform } from '../../src/platform/platform.ts';
import type { TestDatabase } from './databases.ts';

export class TestClock implements Clock {
  #now: number;

  constructor(start = '2026-01-31T12:00:00.000Z') {
    this.#now = Date.parse(start);
  }

  now(): number {
    return this.#now;
  }

  advance(durationMs: number): void {
    this.#now += durationMs;
  }
}

export interface TestPlatform {
  platform: Platform;
  clock: TestClock;
}

export interface TestPlatformOptions {
  database: TestDatabase;
  settings?: Record<string, string>;
  role?: Role;
  clock?: TestClock;
}

export const TEST_SECRET = 'a secret that only tests know, 0123456789';

/** Opens a platform on a test's own database, migrated. */
export async function openTestPlatform({
  database,
  settings = {},
  role = 'serve',
  clock = new TestClock(),
}: TestPlatformOptions): Promise<TestPlatform> {
  // An embedded database lives for seconds here: compiling it well would take longer than it saves.
  if (database.settings.DATABASE_URL === undefined) setFlagsFromString('--liftoff-only');
  const { values } = loadSettings({
    environment: {
      SVC_SECRET: TEST_SECRET,
      KANBAN_PORT: '0',
      RELAY_PORT: '0',
      PASTE_PORT: '0',
      LINKS_PORT: '0',
      OPS_PORT: '0',
      LOG_LEVEL: 'silent',
      ...database.settings,
      ...settings,
    },
  });
  const platform = await openPlatform({
    config: makeConfig(values, role),
    command: 'a test',
    log: await createLog({ level: 'silent' }),
    overrides: { clock },
  });
  await migrate(platform.database, migrations, { direction: 'up' });
  return { platform, clock };
}
