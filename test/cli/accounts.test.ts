// `svc accounts` beside a running server, over one database.
import { afterAll, beforeAll, expect, test } from 'vitest';
import { removeFolder, temporaryFolder } from '../support/databases.ts';
import { call, join, type Person, signIn } from '../support/kanban-server.ts';
import { runSvc } from '../support/run-svc.ts';
import { type ServedSvc, serveSvc } from '../support/serve.ts';
import { TEST_SECRET } from '../support/test-platform.ts';

let folder: string;
let env: Record<string, string>;
let served: ServedSvc;
let server: { url: string };
let ada: Person;

beforeAll(async () => {
  folder = temporaryFolder();
  env = { SVC_DATA_DIR: folder, SVC_SECRET: TEST_SECRET, ACCOUNT_DELETE_AFTER: '0s' };
  served = await serveSvc({
    env: { ...env, KANBAN_RATE_LIMIT_LOGIN_PER_MINUTE: '0', KANBAN_RATE_LIMIT_REGISTER_PER_HOUR: '0' },
    args: ['--only', 'kanban', '--no-scheduler'],
  });
  server = { url: served.kanbanUrl };
  ada = await join(server, 'ada');
});
afterAll(async () => {
  await served.end('SIGTERM');
  removeFolder(folder);
});

const accounts = (...args: string[]) => runSvc(['accounts', ...args], { env });

test('list and show say who there is, and nothing that opens anything', async () => {
  expect(await accounts('list')).toMatchObject({
    code: 0,
    stdout: `${ada.id}  ${ada.email}  active\n`,
    stderr: '',
  });
  const shown = JSON.parse((await accounts('show', ada.email, '--json')).stdout);
  expect(shown).toMatchObject({ id: ada.id, email: ada.email, workspaces: 0, sessions: 1, deletedAt: null });
  expect(JSON.stringify(shown)).not.toMatch(/hash|key|blob|salt/i);
  expect((await accounts('show', ada.id)).stdout).toContain(`email       ${ada.email}`);
  expect(await accounts('show', 'nobody')).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('svc accounts list'),
  });
});

test('unlock ends the wait after failed logins', async () => {
  const login = (authHash: string) =>
    call(server, { method: 'POST', path: '/auth/login', json: { email: ada.email, authHash } });
  for (let time = 0; time < 6; time++) await login('wrong');
  expect((await login(ada.authHash)).status).toBe(429);
  expect((await accounts('unlock', ada.email)).stdout).toBe(`${ada.email} can sign in again\n`);
  expect((await login(ada.authHash)).status).toBe(200);
  expect((await accounts('unlock', ada.email)).stdout).toContain('was not held up');
});

test('delete asks, shreds at once, and ends the sessions that the server has in memory', async () => {
  const bob = await join(server, 'bob');
  expect((await bob.get('/me')).status).toBe(200);
  expect(await accounts('delete', bob.email)).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--yes'),
  });
  expect((await bob.get('/me')).status).toBe(200);
  expect(await accounts('delete', bob.email, '--yes')).toMatchObject({ code: 0 });
  expect((await bob.get('/me')).status).toBe(401);
  await expect(signIn(server, bob)).rejects.toThrow('INVALID_CREDENTIALS');
  expect((await accounts('purge', '--dry-run')).stdout).toContain('would remove 1 accounts');
  expect((await accounts('purge', '--yes')).stdout).toContain('removed 1 accounts');
  expect((await accounts('list')).stdout).not.toContain(bob.email);
});
