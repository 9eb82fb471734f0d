// Signing in while more passwords are being checked than the server takes on: nobody has guessed wrong for that.
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { verifyPassword } from '../../../src/platform/passwords.ts';
import { call, join, type KanbanServer, startKanbanServer } from '../../support/kanban-server.ts';

let open: () => void = () => {};
let gate = Promise.resolve();

vi.mock('argon2', async (original) => {
  const real = await original<typeof import('argon2')>();
  const verify: typeof real.verify = async (digest, plain) => {
    await gate;
    return digest === 'of nobody' ? false : real.verify(digest, plain);
  };
  return { ...real, verify };
});

let server: KanbanServer;
beforeAll(async () => {
  server = await startKanbanServer();
});
afterAll(() => server.close());

test('logins that are refused for too much to do do not count as failures', async () => {
  const { email, authHash } = await join(server);
  const login = (hash: string) =>
    call(server, { method: 'POST', path: '/auth/login', json: { email, authHash: hash } });
  gate = new Promise((resolve) => {
    open = resolve;
  });
  // As many as are checked at a time and may wait for that.
  const others = Array.from({ length: 202 }, () => verifyPassword('of nobody', 'x'));
  for (let time = 0; time < 5; time++) {
    expect(await login(authHash)).toMatchObject({ status: 503, body: { error: { code: 'UNAVAILABLE' } } });
  }
  open();
  await Promise.all(others);
  for (let time = 0; time < 2; time++) expect((await login('wrong')).status).toBe(401);
  expect((await login(authHash)).status).toBe(200);
});
