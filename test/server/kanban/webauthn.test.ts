// WebAuthn from end to end, with an authenticator in software: registered, then good in place of a TOTP code.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createId } from '../../../src/platform/ids.ts';
import { type Authenticator, createAuthenticator } from '../../support/authenticator.ts';
import { fastestBackend } from '../../support/databases.ts';
import {
  type Answer,
  call,
  join,
  type KanbanServer,
  type Person,
  startKanbanServer,
} from '../../support/kanban-server.ts';
import { startRedis } from '../../support/private-services.ts';

function loginAt(
  server: KanbanServer,
  { email, authHash }: Person,
  rest: Record<string, unknown> = {},
): Promise<Answer> {
  return call(server, { method: 'POST', path: '/auth/login', json: { email, authHash, ...rest } });
}

/** Somebody with TOTP and a registered authenticator. */
async function equippedAt(server: KanbanServer): Promise<{ person: Person; authenticator: Authenticator }> {
  const person = await join(server);
  const { secret } = (await person.post('/auth/2fa/enroll')).body;
  const totp = generateSync({ secret, epoch: Math.floor(server.clock.now() / 1000) });
  expect((await person.post('/auth/2fa/verify', { totp })).status).toBe(200);
  const authenticator = createAuthenticator({ origin: server.url });
  const { body: options } = await person.post('/auth/webauthn/register');
  const registered = await person.post('/auth/webauthn/verify', authenticator.register(options));
  expect(registered).toMatchObject({
    status: 201,
    body: { credential: { transports: ['internal', 'hybrid'], lastUsedAt: null } },
  });
  return { person, authenticator };
}

// Every statement also runs embedded, in the tests that go through the table of routes (access.test.ts).
describe.each([fastestBackend()])('on $name', (backend) => {
  let server: KanbanServer;
  beforeAll(async () => {
    server = await startKanbanServer({ backend });
  });
  afterAll(() => server.close());

  const equipped = () => equippedAt(server);
  const login = (person: Person, rest?: Record<string, unknown>) => loginAt(server, person, rest);
  const optionsFor = async (person: Person) => (await login(person)).body.error.details.webauthn;

  test('a registered credential signs in where a code is asked for, each challenge once', async () => {
    const { person, authenticator } = await equipped();
    const required = await login(person);
    expect(required).toMatchObject({ status: 401, body: { error: { code: 'TOTP_REQUIRED' } } });
    const options = required.body.error.details.webauthn;
    const { items } = (await person.get('/auth/webauthn')).body;
    expect(options.allowCredentials).toMatchObject([{ id: items[0].credentialId }]);
    const assertion = authenticator.assert(options);
    expect((await login(person, { webauthn: assertion })).status).toBe(200);
    expect((await person.get('/auth/webauthn')).body.items[0].lastUsedAt).not.toBeNull();
    expect((await login(person, { webauthn: assertion })).body.error.code).toBe('INVALID_TOTP');
    // Nor does a new answer to a challenge that was used.
    const again = authenticator.assert(options);
    expect((await login(person, { webauthn: again })).body.error.code).toBe('INVALID_TOTP');
  });

  test('of assertions to one challenge that race, one wins', async () => {
    const { person, authenticator } = await equipped();
    const options = await optionsFor(person);
    const assertions = [authenticator.assert(options), authenticator.assert(options)];
    const answers = await Promise.all(assertions.map((webauthn) => login(person, { webauthn })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  test('a counter that stands still or goes backwards is that of a copy, also among those that race', async () => {
    const { person, authenticator } = await equipped();
    const attempt = async (counter: number) =>
      login(person, { webauthn: authenticator.assert(await optionsFor(person), counter) });
    expect((await attempt(7)).status).toBe(200);
    expect((await attempt(7)).body.error.code).toBe('INVALID_TOTP');
    expect((await attempt(6)).body.error.code).toBe('INVALID_TOTP');
    expect((await attempt(8)).status).toBe(200);
    const challenges = [await optionsFor(person), await optionsFor(person)];
    const copies = challenges.map((options) => authenticator.assert(options, 9));
    const answers = await Promise.all(copies.map((webauthn) => login(person, { webauthn })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 401]);
  });

  test('what another key signed, for another site, or for somebody else, does not sign in', async () => {
    const { person, authenticator } = await equipped();
    const { items } = (await person.get('/auth/webauthn')).body;
    const credentialId = Buffer.from(items[0].credentialId, 'base64url');
    const stranger = createAuthenticator({ origin: server.url, credentialId });
    const elsewhere = createAuthenticator({ origin: 'https://example.org', credentialId });
    for (const other of [stranger, elsewhere]) {
      const webauthn = other.assert(await optionsFor(person));
      expect((await login(person, { webauthn })).body.error.code).toBe('INVALID_TOTP');
    }
    const somebody = await equipped();
    const webauthn = authenticator.assert(await optionsFor(somebody.person));
    expect((await login(somebody.person, { webauthn })).body.error.code).toBe('INVALID_TOTP');
  });

  test('a credential is registered once, and an account has at most 50', async () => {
    const { person, authenticator } = await equipped();
    const register = async (which: Authenticator) => {
      const { body: options } = await person.post('/auth/webauthn/register');
      return person.post('/auth/webauthn/verify', which.register(options));
    };
    expect((await register(authenticator)).body.error.code).toBe('CONFLICT');
    const others = Array.from({ length: 48 }, (_, index) => ({
      id: createId(index),
      accountId: person.id,
      credentialId: `${person.id}-${index}`,
      publicKey: Buffer.alloc(1),
      counter: 0,
      transports: [],
      createdAt: new Date(0),
    }));
    await server.platform.database.insertInto('webauthnCredential').values(others).execute();
    const fresh = () => register(createAuthenticator({ origin: server.url }));
    const racing = await Promise.all([fresh(), fresh()]);
    expect(racing.map(({ status }) => status).sort()).toEqual([201, 409]);
  });

  test('answers that are not of the form of one are refused as such, whatever is in them', async () => {
    const { person, authenticator } = await equipped();
    const { body: creation } = await person.post('/auth/webauthn/register');
    const registration = authenticator.register(creation);
    const assertion = authenticator.assert(await optionsFor(person));
    const wrong = (right: { response: Record<string, unknown> }, parts: string[]) => [
      ...['a\0', 'ä', '', 7, null, {}].flatMap((value) => [
        { ...right, id: value },
        { ...right, rawId: value },
        ...parts.map((name) => ({ ...right, response: { ...right.response, [name]: value } })),
      ]),
      { ...right, response: undefined },
      { ...right, response: 'response' },
      { ...right, type: 'password' },
    ];
    const transports = ['usb', { usb: 1 }, ['usb\0'], ['carrier-pigeon'], [7], [null]].map((value) => ({
      ...registration,
      response: { ...registration.response, transports: value },
    }));
    for (const json of [...wrong(registration, ['clientDataJSON', 'attestationObject']), ...transports]) {
      const { status, body } = await person.post('/auth/webauthn/verify', json);
      expect({ json, status, code: body.error.code }).toEqual({ json, status: 400, code: 'BAD_REQUEST' });
    }
    for (const webauthn of wrong(assertion, ['clientDataJSON', 'authenticatorData', 'signature'])) {
      const { status, body } = await login(person, { webauthn });
      expect({ webauthn, status, code: body.error.code }).toEqual({
        webauthn,
        status: 400,
        code: 'BAD_REQUEST',
      });
    }
    // None of them used the challenge up, or counted as a failure.
    expect((await login(person, { webauthn: assertion })).status).toBe(200);
  });
});

test.skipIf(inject('redisServer') === '')(
  'a Redis that is away is what a client is told of, not that its answer was wrong',
  async () => {
    const redis = await startRedis(inject('redisServer'));
    const server = await startKanbanServer({
      backend: fastestBackend(),
      settings: { REDIS_URL: redis.url, KANBAN_RATE_LIMIT_LOGIN_PER_MINUTE: '0' },
    });
    try {
      const { person, authenticator } = await equippedAt(server);
      const { body } = await loginAt(server, person);
      const webauthn = authenticator.assert(body.error.details.webauthn);
      await redis.remove();
      const away = { status: 503, body: { error: { code: 'UNAVAILABLE' } } };
      expect(await loginAt(server, person, { webauthn })).toMatchObject(away);
      expect(await loginAt(server, person)).toMatchObject(away);
      expect(await person.post('/auth/webauthn/register')).toMatchObject(away);
      expect(await person.post('/auth/ws-ticket')).toMatchObject(away);
    } finally {
      await server.close();
      await redis.remove();
    }
  },
);
