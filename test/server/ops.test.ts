// The operator endpoint tells the truth from its first answer on.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createOpsApp } from '../../src/server/ops.ts';
import { fastestBackend, type TestDatabase } from '../support/databases.ts';
import { openTestPlatform, type TestPlatform } from '../support/test-platform.ts';

let database: TestDatabase;
let opened: TestPlatform;
beforeAll(async () => {
  database = await fastestBackend().create();
  opened = await openTestPlatform({ database });
});
afterAll(async () => {
  await opened.platform.close();
  await database.remove();
});

test('the gauges of the database and of Redis say what is so before anything has used either', async () => {
  const app = createOpsApp(opened.platform, { ready: true });
  const { body } = await app.inject('/metrics');
  expect(body).toContain('svc_database_up 1');
  expect(body).toContain('svc_redis_up 1');
  await app.close();
});
