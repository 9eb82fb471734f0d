// Accounts, sessions, second factors, recovery, deletion, through the API.
import { sql } from 'kysely';
import sodium from 'libsodium-wrappers';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { purgeAccounts } from '../../../src/services/kanban/accounts/purge-accounts.ts';
import { fastestBackend } from '../../support/databases.ts';
import {
  type Answer,
  call,
  cookieOf,
  furnish,
  invite,
  join,
  type KanbanServer,
  type Person,
  registration,
  sealed,
  signIn,
  startKanbanServer,
} from '../../support/kanban-server.ts';

const DAY_MS = 86_400_000;

// Every statement also runs embedded, in the tests that go through the table of routes (access.test.ts).
describe.each([fastestBackend()])('on $name', (backend) => {
  let server: KanbanServer;
  beforeAll(async () => {
    server = await startKanbanServer({ backend, settings: { TRUST_PROXY: '1' } });
  });
  afterAll(() => server.close());

  const post = (path: string, json: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    call(server, { method: 'POST', path, json, headers });
  const attempt = (email: string, authHash: string, rest: Record<string, unknown> = {}, from = '192.0.2.1') =>
    post('/auth/login', { email, authHash, ...rest }, { 'x-forwarded-for': from });

  describe('an account', () => {
    test('is registered once, whatever the spelling of its address', async () => {
      const first = await post('/auth/register', registration('Ada@Example.org'));
      expect(first).toMatchObject({
        status: 201,
        body: {
          user: {
            email: 'ada@example.org',
            totpEnabled: false,
            id: expect.stringMatching(/^c[a-z0-9]{24}$/),
          },
        },
      });
      expect(first.headers.get('set-cookie')).toBeNull();
      const second = await post('/auth/register', registration(' ada@EXAMPLE.org'.trim()));
      expect(second).toMatchObject({ status: 409, body: { error: { code: 'CONFLICT' } } });
    });

    test('is registered by one of many who race', async () => {
      const answers = await Promise.all(
        Array.from({ length: 6 }, () => post('/auth/register', registration('race@example.org'))),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409]);
    });

    test('signs in, is known by its cookie, and signs out', async () => {
      await post('/auth/register', registration('grace@example.org'));
      const answer = await attempt('grace@example.org', 'hash of grace@example.org');
      expect(answer).toMatchObject({
        status: 200,
        body: { user: { email: 'grace@example.org' }, encPrivateKey: sealed('private key') },
      });
      expect(answer.headers.get('set-cookie')).toMatch(
        /^svc_session=ks_[\w-]{43}; Path=\/api; HttpOnly; Secure; SameSite=Strict; Max-Age=7776000$/,
      );
      const cookie = cookieOf(answer);
      expect((await call(server, { path: '/me', headers: { cookie } })).body).toMatchObject({
        user: { email: 'grace@example.org' },
        memberships: [],
      });
      const out = await post('/auth/logout', undefined, { cookie });
      expect(out.status).toBe(204);
      expect(out.headers.get('set-cookie')).toContain('Max-Age=0');
      expect((await call(server, { path: '/me', headers: { cookie } })).status).toBe(401);
    });

    test('that does not exist answers like one that does', async () => {
      await post('/auth/register', registration('known@example.org'));
      const ask = async (email: string) => ({
        init: await post('/auth/login-init', { email }),
        again: await post('/auth/login-init', { email: email.toUpperCase() }),
        login: await attempt(email, 'wrong', {}, '192.0.2.77'),
        recovery: await post('/auth/recovery', { email }),
        recoveryAgain: await post('/auth/recovery', { email }),
      });
      const [known, unknown] = [await ask('known@example.org'), await ask('unknown@example.org')];
      for (const one of [known, unknown]) {
        expect(one.init.body).toEqual(one.again.body);
        expect(one.init.body).toEqual({
          salt: expect.stringMatching(/^[\w-]{22}$/),
          kdf: { algorithm: 'argon2id', memoryKiB: 65536, iterations: 3, parallelism: 4 },
        });
        expect(one.login).toMatchObject({ status: 401, body: { error: { code: 'INVALID_CREDENTIALS' } } });
        expect(one.recovery.body.encRecoveryBlob).toBe(one.recoveryAgain.body.encRecoveryBlob);
        expect(one.recovery.body.encPrivateKey).toBe(one.recoveryAgain.body.encPrivateKey);
        expect(one.recovery.body.sealedChallenge).not.toBe(one.recoveryAgain.body.sealedChallenge);
      }
      expect(known.login.body).toEqual(unknown.login.body);
      const shape = ({ headers, body }: Answer) => [[...headers.keys()].sort(), Object.keys(body).sort()];
      for (const step of ['init', 'login', 'recovery'] as const) {
        expect(shape(known[step])).toEqual(shape(unknown[step]));
      }
      expect(unknown.recovery.body.sealedChallenge).toHaveLength(known.recovery.body.sealedChallenge.length);
    });

    test('takes as long to refuse when it exists as when it does not', async () => {
      await post('/auth/register', registration('slow@example.org'));
      const times: Record<string, number[]> = { slow: [], nobody: [] };
      for (let round = 0; round < 15; round++) {
        for (const name of ['slow', 'nobody'] as const) {
          const startedAt = performance.now();
          await attempt(`${name}@example.org`, 'wrong', {}, `198.51.100.${round}`);
          times[name]?.push(performance.now() - startedAt);
          server.clock.advance(61_000);
        }
      }
      const [slow, nobody] = Object.values(times).map((list) => list.sort((a, b) => a - b)[7] ?? 0);
      // Without the dummy run of Argon2id one would be a tenth of the other.
      expect(Math.max(slow ?? 0, nobody ?? 0) / Math.min(slow ?? 0, nobody ?? 0)).toBeLessThan(2);
    });
  });

  describe('failed logins', () => {
    const account = async (name: string) => {
      const fields = registration(`${name}@example.org`);
      await post('/auth/register', fields);
      return {
        fail: (from: string) => attempt(fields.email, 'wrong', {}, from),
        succeed: (from: string) => attempt(fields.email, fields.authHash, {}, from),
      };
    };

    test('double the wait from the third on; a refused attempt does not lengthen it; a right one ends it', async () => {
      const { fail, succeed } = await account('backoff');
      for (let time = 0; time < 3; time++) expect((await fail('192.0.2.9')).status).toBe(401);
      for (const wait of [2, 4, 8, 16, 32]) {
        for (let time = 0; time < 2; time++) {
          const refused = await succeed('192.0.2.9');
          expect(refused).toMatchObject({ status: 429, body: { error: { code: 'RATE_LIMITED' } } });
          expect(refused.headers.get('retry-after')).toBe(String(wait));
        }
        server.clock.advance(wait * 1000);
        expect((await fail('192.0.2.9')).status).toBe(401);
      }
      server.clock.advance(64_000);
      expect((await succeed('192.0.2.9')).status).toBe(200);
      expect((await fail('192.0.2.9')).status).toBe(401);
      expect((await succeed('192.0.2.9')).status).toBe(200);
    });

    test('of strangers hold the account up for a minute at most, and its owner not at all', async () => {
      const { fail, succeed } = await account('locked');
      await succeed('192.0.2.50');
      for (let time = 0; time < 12; time++) {
        await fail(`203.0.113.${time}`);
        server.clock.advance(60_000);
      }
      await fail('203.0.113.99');
      expect((await succeed('203.0.113.100')).headers.get('retry-after')).toBe('60');
      expect((await succeed('192.0.2.50')).status).toBe(200);
    });

    test('that race are counted each', async () => {
      const { fail } = await account('racing');
      const answers = await Promise.all(Array.from({ length: 12 }, () => fail('192.0.2.60')));
      expect(answers.filter(({ status }) => status === 401)).toHaveLength(3);
    });

    test('of an address without an account are held up alike', async () => {
      for (let time = 0; time < 3; time++) await attempt('nobody-there@example.org', 'x');
      expect((await attempt('nobody-there@example.org', 'x')).headers.get('retry-after')).toBe('2');
    });
  });

  describe('a session', () => {
    test('ends after 30 days without use, and after 90 in any case', async () => {
      const idle = await join(server);
      const busy = await join(server);
      for (let day = 0; day < 87; day += 29) {
        expect((await busy.get('/me')).status).toBe(200);
        server.clock.advance(29 * DAY_MS);
      }
      expect((await idle.get('/me')).status).toBe(401);
      expect((await busy.get('/me')).status).toBe(200);
      server.clock.advance(4 * DAY_MS);
      expect((await busy.get('/me')).status).toBe(401);
    });

    test('is listed, and ended from another', async () => {
      const person = await join(server);
      const other = await signIn(server, person);
      const { items } = (await person.get('/me/sessions')).body;
      expect(items.map(({ current }: { current: boolean }) => current)).toEqual([false, true]);
      expect((await person.delete(`/me/sessions/${items[0].id}`)).status).toBe(204);
      expect((await call(server, { path: '/me', headers: { cookie: other } })).status).toBe(401);
      expect((await person.delete(`/me/sessions/${items[0].id}`)).status).toBe(404);
      expect((await person.get('/me')).status).toBe(200);
    });

    test('changes nothing on behalf of another site', async () => {
      const person = await join(server);
      const json = { encName: sealed('n'), encWorkspaceKey: sealed('k') };
      const from = (origin: string) =>
        call(server, {
          method: 'POST',
          path: '/workspaces',
          json,
          headers: { cookie: person.cookie, origin },
        });
      expect((await from('https://evil.example')).body.error.code).toBe('FORBIDDEN');
      expect((await from('null')).status).toBe(403);
      expect((await from(server.url)).status).toBe(201);
      const login = { email: person.email, authHash: person.authHash };
      expect((await post('/auth/login', login, { origin: 'https://evil.example' })).status).toBe(403);
    });

    test('is what a ticket is bound to', async () => {
      const person = await join(server);
      const { status, body } = await person.post('/auth/ws-ticket');
      expect({ status, body }).toMatchObject({
        status: 201,
        body: { ticket: expect.stringMatching(/^kt_.{43}$/) },
      });
      expect(Date.parse(body.expiresAt) - server.clock.now()).toBe(30_000);
    });
  });

  describe('a second factor', () => {
    const enroll = async (): Promise<{ person: Person; secret: string; recoveryCodes: string[] }> => {
      const person = await join(server);
      const { body } = await person.post('/auth/2fa/enroll');
      expect(body.otpauthUri).toContain(`secret=${body.secret}`);
      const verified = await person.post('/auth/2fa/verify', { totp: codeOf(body.secret) });
      expect(verified.status).toBe(200);
      return { person, secret: body.secret, recoveryCodes: verified.body.recoveryCodes };
    };
    const codeOf = (secret: string, steps = 0) =>
      generateSync({ secret, epoch: Math.floor(server.clock.now() / 1000) + 30 * steps });

    test('is asked for once it is confirmed, and each code is good once, a step either way', async () => {
      const { person, secret, recoveryCodes } = await enroll();
      expect(new Set(recoveryCodes).size).toBe(10);
      const login = (rest: Record<string, unknown> = {}) => attempt(person.email, person.authHash, rest);
      for (let time = 0; time < 5; time++) {
        expect(await login()).toMatchObject({ status: 401, body: { error: { code: 'TOTP_REQUIRED' } } });
      }
      // The code that confirmed the enrollment is used up.
      expect((await login({ totp: codeOf(secret) })).body.error.code).toBe('INVALID_TOTP');
      expect((await login({ totp: codeOf(secret, 1) })).status).toBe(200);
      expect((await login({ totp: codeOf(secret, 1) })).body.error.code).toBe('INVALID_TOTP');
      server.clock.advance(120_000);
      expect((await login({ totp: codeOf(secret, 2) })).body.error.code).toBe('INVALID_TOTP');
      server.clock.advance(60_000);
      const racing = await Promise.all(Array.from({ length: 4 }, () => login({ totp: codeOf(secret) })));
      expect(racing.filter(({ status }) => status === 200)).toHaveLength(1);
    });

    test('has codes that stand in for it, each once', async () => {
      const { person, recoveryCodes } = await enroll();
      const login = (totp: string | undefined) => attempt(person.email, person.authHash, { totp });
      expect((await login(recoveryCodes[0])).status).toBe(200);
      expect((await login(recoveryCodes[0])).body.error.code).toBe('INVALID_TOTP');
      expect((await person.post('/auth/2fa/disable', { totp: '000000' })).body.error.code).toBe(
        'INVALID_TOTP',
      );
      expect((await person.post('/auth/2fa/disable', { totp: recoveryCodes[1] })).status).toBe(204);
      expect((await attempt(person.email, person.authHash, {}, '192.0.2.88')).status).toBe(200);
      expect((await person.post('/auth/2fa/disable', { totp: recoveryCodes[2] })).status).toBe(409);
    });

    test('counts towards the wait when it is wrong, and has a limit of its own', async () => {
      const { person } = await enroll();
      for (let time = 0; time < 3; time++) await attempt(person.email, person.authHash, { totp: '000000' });
      expect((await attempt(person.email, person.authHash)).status).toBe(429);
      for (let time = 0; time < 10; time++) await person.post('/auth/2fa/disable', { totp: '000000' });
      expect((await person.post('/auth/2fa/disable', { totp: '000000' })).status).toBe(429);
    });

    test('is stored under a key of the server', async () => {
      const { person, secret } = await enroll();
      const row = await server.platform.database
        .selectFrom('account')
        .select('totpSecret')
        .where('id', '=', person.id)
        .executeTakeFirstOrThrow();
      expect(row.totpSecret?.toString('latin1')).not.toContain(secret);
    });
  });

  test('WebAuthn registration begins with options; an answer that does not hold is refused, and uses the challenge up', async () => {
    const person = await join(server);
    const { body: options } = await person.post('/auth/webauthn/register');
    expect(options).toMatchObject({
      rp: { id: '127.0.0.1' },
      user: { name: person.email },
      challenge: expect.any(String),
    });
    const answer = await person.post('/auth/webauthn/verify', {
      id: 'AAAA',
      rawId: 'AAAA',
      type: 'public-key',
      clientExtensionResults: {},
      response: { clientDataJSON: 'AAAA', attestationObject: 'AAAA' },
    });
    expect(answer.status).toBe(400);
    expect((await person.post('/auth/webauthn/verify', { id: 'x' })).status).toBe(400);
    expect((await person.get('/auth/webauthn')).body).toEqual({ items: [], nextCursor: null });
  });

  test('recovery replaces the credentials of who opens the challenge, once, and ends every session', async () => {
    await sodium.ready;
    const keys = sodium.crypto_box_keypair();
    const email = 'lost@example.org';
    const account = { ...registration(email), publicKey: Buffer.from(keys.publicKey).toString('base64url') };
    await post('/auth/register', account);
    const cookie = await signIn(server, account);
    const { body: challenge } = await post('/auth/recovery', { email });
    expect(challenge).toMatchObject({
      encRecoveryBlob: account.encRecoveryBlob,
      encPrivateKey: account.encPrivateKey,
    });
    expect(JSON.stringify(challenge)).not.toContain(account.encSymmetricKey);
    const opened = sodium.crypto_box_seal_open(
      Buffer.from(challenge.sealedChallenge, 'base64url'),
      keys.publicKey,
      keys.privateKey,
    );
    const answer = {
      challengeId: challenge.challengeId,
      authHash: 'new hash',
      encPrivateKey: sealed('new private'),
      encSymmetricKey: sealed('new symmetric'),
      encRecoveryBlob: sealed('new blob'),
    };
    const proof = Buffer.from(opened).toString('utf8');
    expect((await post('/auth/recovery', { ...answer, proof: undefined })).body.error.details).toHaveProperty(
      'proof',
    );
    const racing = await Promise.all([1, 2, 3].map(() => post('/auth/recovery', { ...answer, proof })));
    expect(racing.map(({ status }) => status).sort()).toEqual([200, 401, 401]);
    expect((await call(server, { path: '/me', headers: { cookie } })).status).toBe(401);
    expect((await attempt(email, account.authHash)).status).toBe(401);
    expect((await attempt(email, 'new hash')).body).toMatchObject({
      encSymmetricKey: sealed('new symmetric'),
    });
    const late = (await post('/auth/recovery', { email })).body;
    expect(
      (await post('/auth/recovery', { ...answer, challengeId: late.challengeId, proof: 'x' })).status,
    ).toBe(401);
  });

  test('a public key to which nothing can be sealed is refused; of one that is there already, recovery shows nothing', async () => {
    // The points of small order on Curve25519: 0, 1, two of order eight, p - 1, p, p + 1.
    const points = [
      '00'.repeat(32),
      `01${'00'.repeat(31)}`,
      'e0eb7a7c3b41b8ae1656e3faf19fc46ada098deb9c32b1fd866205165f49b800',
      '5f9c95bca3508c24b1d0b1559c83ef5b04445cc4581c8e86d8224eddd09f1157',
      `ec${'ff'.repeat(30)}7f`,
      `ed${'ff'.repeat(30)}7f`,
      `ee${'ff'.repeat(30)}7f`,
    ].map((point) => Buffer.from(point, 'hex').toString('base64url'));
    const account = registration('low-order@example.org');
    for (const publicKey of points) {
      expect(await post('/auth/register', { ...account, publicKey })).toMatchObject({
        status: 400,
        body: { error: { details: { publicKey: expect.anything() } } },
      });
    }
    expect((await post('/auth/register', account)).status).toBe(201);
    for (const publicKey of points) {
      await server.platform.database
        .updateTable('account')
        .set({ publicKey })
        .where('email', '=', account.email)
        .execute();
      const { status, body } = await post('/auth/recovery', { email: account.email });
      expect({ status, length: body.sealedChallenge.length }).toEqual({ status: 200, length: 122 });
    }
  });

  test('deletion shreds at once, hands workspaces over, and the purge leaves nothing that names the account', async () => {
    const home = await furnish(server);
    const { owner, workspaceId, cardId, boardId } = home;
    const [member, admin] = [await invite(server, home), await invite(server, home, 'admin')];
    const alone = await owner.post('/workspaces', {
      encName: sealed('alone'),
      encWorkspaceKey: sealed('only mine'),
    });
    const { body: comment } = await owner.post(`/cards/${cardId}/comments`, { encBody: sealed('stays') });
    await owner.post(`/cards/${cardId}/assignments`, { userId: owner.id });

    const deleted = await owner.delete('/me');
    expect(deleted).toMatchObject({ status: 202 });
    expect(Date.parse(deleted.body.purgeAfter) - Date.parse(deleted.body.deletedAt)).toBe(30 * DAY_MS);
    expect((await owner.get('/me')).status).toBe(401);
    expect((await attempt(owner.email, owner.authHash)).status).toBe(401);
    const { database } = server.platform;
    const row = await database
      .selectFrom('account')
      .selectAll()
      .where('id', '=', owner.id)
      .executeTakeFirstOrThrow();
    expect(
      Object.entries(row)
        .filter(([, value]) => value !== null)
        .map(([name]) => name)
        .sort(),
    ).toEqual(['createdAt', 'deletedAt', 'email', 'id', 'purgeAfter', 'totpEnabled', 'totpLastStep']);
    for (const table of [
      'session',
      'recoveryCode',
      'webauthnCredential',
      'accountAddress',
      'workspaceMember',
    ] as const) {
      expect(
        await database.selectFrom(table).selectAll().where('accountId', '=', owner.id).execute(),
      ).toEqual([]);
    }
    expect(
      await database.selectFrom('workspace').selectAll().where('id', '=', alone.body.id).execute(),
    ).toEqual([]);
    expect((await admin.get(`/workspaces/${workspaceId}`)).body).toMatchObject({
      role: 'owner',
      rotationDue: true,
    });
    expect((await member.get(`/workspaces/${workspaceId}`)).body.role).toBe('member');
    expect((await member.get(`/cards/${cardId}`)).body).toMatchObject({
      assigneeIds: [],
      comments: [{ id: comment.id }],
    });
    expect((await post('/auth/register', registration(owner.email))).status).toBe(409);

    server.clock.advance(30 * DAY_MS - 1);
    expect(await purgeAccounts(server.platform, { command: 'a test' })).toEqual({
      accounts: 0,
      complete: true,
    });
    server.clock.advance(1);
    expect(await purgeAccounts(server.platform, { command: 'a test' })).toEqual({
      accounts: 1,
      complete: true,
    });
    const { rows: tables } = await sql<{ name: string }>`
      SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`.execute(database);
    for (const { name } of tables) {
      const { rows } = await sql<{
        text: string;
      }>`SELECT t::text AS text FROM ${sql.table(name)} AS t`.execute(database);
      const dump = rows.map(({ text }) => text).join('\n');
      expect(dump.includes(owner.email) || dump.includes(owner.id), name).toBe(false);
    }
    const again = await signIn(server, member);
    const seen = await call(server, { path: `/boards/${boardId}/activity`, headers: { cookie: again } });
    expect(seen.body.items.some(({ actorId }: { actorId: null }) => actorId === null)).toBe(true);
    expect((await post('/auth/register', registration(owner.email))).status).toBe(201);
  });

  test('the export holds everything one can read, and nothing else', async () => {
    const home = await furnish(server);
    const other = await furnish(server);
    const { owner, cardId } = home;
    await owner.post(`/cards/${cardId}/comments`, { encBody: sealed('my comment') });
    await owner.post(`/cards/${cardId}/attachments`, {
      encName: sealed('n'),
      encContent: sealed('my attachment'),
    });
    await owner.post(`/cards/${cardId}/attachments`, { encName: sealed('n'), encContent: sealed('another') });
    const { status, body, headers } = await owner.get('/me/export');
    expect(status).toBe(200);
    expect(headers.get('content-disposition')).toContain('attachment');
    expect(body).toMatchObject({
      user: { email: owner.email },
      workspaces: [
        {
          workspace: { id: home.workspaceId },
          members: [{ userId: owner.id }],
          boards: [
            {
              board: { id: home.boardId, encBoardKeys: [{ epoch: 1 }] },
              columns: [{ id: home.columnId }],
              cards: [{ id: cardId, encTitle: sealed('card') }],
              comments: [{ encBody: sealed('my comment') }],
              attachments: [{ encContent: sealed('my attachment') }, { encContent: sealed('another') }],
            },
          ],
        },
      ],
    });
    expect(JSON.stringify(body)).not.toContain(other.workspaceId);
  });
});
