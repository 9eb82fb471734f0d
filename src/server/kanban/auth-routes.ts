// Auth: accounts, sessions, second factors, recovery (kanban-api.md, Auth).
import { z } from 'zod';
import { listCredentials } from '../../services/kanban/accounts/list-credentials.ts';
import { login } from '../../services/kanban/accounts/login.ts';
import { beginRecovery, finishRecovery } from '../../services/kanban/accounts/recovery.ts';
import { beginLogin, KDF, register } from '../../services/kanban/accounts/register.ts';
import { endSession } from '../../services/kanban/accounts/sessions.ts';
import { issueTicket } from '../../services/kanban/accounts/tickets.ts';
import { confirmTotp, disableTotp, enrollTotp } from '../../services/kanban/accounts/totp.ts';
import {
  beginWebauthnRegistration,
  finishWebauthnRegistration,
  removeWebauthnCredential,
} from '../../services/kanban/accounts/webauthn.ts';
import type { KanbanService } from '../../services/kanban/kanban-service.ts';
import { badRequest } from '../http/errors.ts';
import { text, timestamp } from '../http/fields.ts';
import type { Route } from '../http/route.ts';
import { body, encrypted, idParam, pageQuery } from './fields.ts';
import { noSessionCookie, sessionCookie } from './guards.ts';
import { attemptsLimit, open, signedIn } from './routes.ts';
import * as schema from './schemas.ts';
import { assertionAnswer, registrationAnswer } from './webauthn-schemas.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;

const email = z
  .email({ error: 'must be an email address' })
  .max(254, 'must have at most 254 characters')
  .meta({ examples: ['ada@example.org'] });
const authHash = text({ least: 1, most: 1024 }).meta({
  description: 'Derived by the client from the password with Argon2id and HKDF; never the password.',
});
const publicKey = text({ least: 1, most: 1024 }).meta({ description: 'X25519 public key, base64url.' });
const code = text({ least: 6, most: 32 }).meta({ description: 'A code of the app, or a recovery code.' });

const keys = {
  encPrivateKey: encrypted(),
  encSymmetricKey: encrypted(),
  encRecoveryBlob: encrypted(),
};

/** The routes under /api/auth. */
export function authRoutes(service: KanbanService): Route[] {
  const { kanban } = service.platform.config;
  const byAddress = (name: string) =>
    attemptsLimit({ name: `kanban-${name}`, limit: kanban.loginPerMinute, windowMs: MINUTE_MS });
  const secondFactorLimit = {
    rule: { name: 'kanban-second-factor', limit: 10, windowMs: 5 * MINUTE_MS },
    subject: (_address: string, _params: unknown, { accountId }: { accountId: string }) => accountId,
    counts: (status: number) => status === 401,
  };
  return [
    open(service, {
      method: 'POST',
      path: '/auth/register',
      operationId: 'register',
      summary: 'Create an account',
      body: body({ email, authHash, publicKey, ...keys }),
      replies: { 201: { description: 'The account.', schema: z.object({ user: schema.user }) } },
      errors: ['CONFLICT', 'FORBIDDEN'],
      limit: attemptsLimit({ name: 'kanban-register', limit: kanban.registerPerHour, windowMs: HOUR_MS }),
      handler: async ({ body: input }) => ({ status: 201, body: { user: await register(service, input) } }),
    }),
    open(service, {
      method: 'POST',
      path: '/auth/login-init',
      operationId: 'loginInit',
      summary: 'The salt of an address',
      description: 'Answers alike whether or not there is an account.',
      body: body({ email }),
      replies: {
        200: {
          description: 'What `authHash` is derived with.',
          schema: z.object({
            salt: z.string(),
            kdf: z.object({
              algorithm: z.literal(KDF.algorithm),
              memoryKiB: z.int(),
              iterations: z.int(),
              parallelism: z.int(),
            }),
          }),
        },
      },
      errors: ['FORBIDDEN'],
      limit: byAddress('login-init'),
      handler: async ({ body: input }) => ({ status: 200, body: await beginLogin(service, input.email) }),
    }),
    open(service, {
      method: 'POST',
      path: '/auth/login',
      operationId: 'login',
      summary: 'Sign in',
      description:
        'Sets the session cookie. `INVALID_CREDENTIALS`, or `TOTP_REQUIRED` (with `details.webauthn`, the request options, where a credential is registered), or `INVALID_TOTP`. Each failure after the third on an account doubles a wait.',
      body: body({
        email,
        authHash,
        totp: code.nullish(),
        webauthn: assertionAnswer.nullish().meta({ description: 'An assertion, in place of `totp`.' }),
      }),
      replies: {
        200: {
          description: 'Signed in.',
          schema: z.object({ user: schema.user, encPrivateKey: z.string(), encSymmetricKey: z.string() }),
        },
      },
      errors: ['UNAUTHENTICATED', 'FORBIDDEN'],
      limit: byAddress('login'),
      handler: async ({ body: input, context }) => {
        const agent = context.headers['user-agent'];
        const { token, ...reply } = await login(service, {
          ...input,
          addressHash: context.addressHash,
          userAgent: Array.isArray(agent) ? agent[0] : agent,
        });
        return { status: 200, body: reply, headers: { 'set-cookie': sessionCookie(token) } };
      },
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/auth/logout',
      operationId: 'logout',
      summary: 'Sign out',
      replies: { 204: { description: 'The session is over.' } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal }) => {
        await endSession(service, principal.accountId, principal.sessionId);
        return { status: 204, headers: { 'set-cookie': noSessionCookie } };
      },
    }),
    open(service, {
      method: 'POST',
      path: '/auth/recovery',
      operationId: 'recover',
      summary: 'Get back in with the recovery key',
      description:
        'Two steps. With `email` alone: a challenge, sealed to the public key of the account (libsodium sealed box), and the blobs to open it with. With `challengeId` and `proof`, the opened challenge: new credentials, and every session ends. A challenge serves once, for 10 minutes.',
      body: body({
        email: email.optional(),
        challengeId: z.string().max(64).optional(),
        proof: z.string().max(256).optional(),
        authHash: authHash.optional(),
        encPrivateKey: keys.encPrivateKey.optional(),
        encSymmetricKey: keys.encSymmetricKey.optional(),
        encRecoveryBlob: keys.encRecoveryBlob.optional(),
      }),
      replies: {
        200: {
          description: 'The challenge; nothing after the second step.',
          schema: z.object({
            challengeId: z.string().optional(),
            sealedChallenge: z.string().optional(),
            encRecoveryBlob: z.string().optional(),
            encPrivateKey: z.string().optional(),
            expiresAt: timestamp.optional(),
          }),
        },
      },
      errors: ['UNAUTHENTICATED', 'FORBIDDEN'],
      limit: byAddress('recovery'),
      handler: async ({ body: input }) => {
        if (input.challengeId === undefined) {
          if (input.email === undefined) throw badRequest({ email: ['is required'] });
          return { status: 200, body: await beginRecovery(service, input.email) };
        }
        await finishRecovery(service, answerOf(input));
        return { status: 200, body: {} };
      },
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/auth/2fa/enroll',
      operationId: 'enrollTotp',
      summary: 'Make a TOTP secret',
      replies: {
        200: {
          description: 'The secret; it counts once a code of it is verified.',
          schema: z.object({ secret: z.string(), otpauthUri: z.string() }),
        },
      },
      errors: ['CONFLICT', 'FORBIDDEN'],
      handler: async ({ principal }) => ({
        status: 200,
        body: await enrollTotp(service, principal.accountId),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/auth/2fa/verify',
      operationId: 'verifyTotp',
      summary: 'Confirm the enrollment of TOTP',
      body: body({ totp: code }),
      replies: {
        200: {
          description: 'TOTP is enrolled. Each recovery code stands in for `totp` once; given out this once.',
          schema: z.object({ recoveryCodes: z.array(z.string()) }),
        },
      },
      errors: ['CONFLICT', 'FORBIDDEN'],
      limit: secondFactorLimit,
      handler: async ({ principal, body: { totp } }) => ({
        status: 200,
        body: await confirmTotp(service, principal.accountId, totp),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/auth/2fa/disable',
      operationId: 'disableTotp',
      summary: 'Remove TOTP',
      body: body({ totp: code }),
      replies: { 204: { description: 'TOTP and its recovery codes are gone.' } },
      errors: ['CONFLICT', 'FORBIDDEN'],
      limit: secondFactorLimit,
      handler: async ({ principal, body: { totp } }) => {
        await disableTotp(service, principal.accountId, totp);
        return { status: 204 };
      },
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/auth/webauthn/register',
      operationId: 'beginWebauthn',
      summary: 'Begin the registration of a WebAuthn credential',
      replies: {
        200: {
          description: 'Options for `navigator.credentials.create()`.',
          schema: z.looseObject({ challenge: z.string() }),
        },
      },
      errors: ['FORBIDDEN'],
      handler: async ({ principal }) => ({
        status: 200,
        body: await beginWebauthnRegistration(service, principal.accountId),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/auth/webauthn/verify',
      operationId: 'finishWebauthn',
      summary: 'Finish the registration of a WebAuthn credential',
      body: registrationAnswer.meta({
        description: 'What `navigator.credentials.create()` answered, as JSON.',
      }),
      replies: {
        201: { description: 'The credential.', schema: z.object({ credential: schema.credential }) },
      },
      errors: ['CONFLICT', 'FORBIDDEN'],
      handler: async ({ principal, body: response }) => ({
        status: 201,
        body: { credential: await finishWebauthnRegistration(service, principal.accountId, response) },
      }),
    }),
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/auth/webauthn',
      operationId: 'listWebauthn',
      summary: 'List the WebAuthn credentials, oldest first',
      query: pageQuery(),
      replies: { 200: { description: 'A page.', schema: schema.pages.credentials } },
      handler: async ({ principal, query }) => ({
        status: 200,
        body: await listCredentials(service, principal.accountId, query),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'DELETE',
      path: '/auth/webauthn/{id}',
      operationId: 'deleteWebauthn',
      summary: 'Remove a WebAuthn credential',
      params: idParam,
      replies: { 204: { description: 'It is gone.' } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params }) => {
        await removeWebauthnCredential(service, principal.accountId, params.id);
        return { status: 204 };
      },
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/auth/ws-ticket',
      operationId: 'issueTicket',
      summary: 'A one-shot ticket for the relay',
      replies: {
        201: {
          description: 'Good once, for 30 seconds.',
          schema: z.object({ ticket: z.string(), expiresAt: timestamp }),
        },
      },
      errors: ['FORBIDDEN'],
      handler: async ({ principal }) => ({ status: 201, body: await issueTicket(service, principal) }),
    }),
  ];
}

const ANSWER_FIELDS = [
  'challengeId',
  'proof',
  'authHash',
  'encPrivateKey',
  'encSymmetricKey',
  'encRecoveryBlob',
] as const;

type AnswerField = (typeof ANSWER_FIELDS)[number];

function answerOf(input: Partial<Record<AnswerField, string | undefined>>): Record<AnswerField, string> {
  const missing = ANSWER_FIELDS.filter((field) => input[field] === undefined);
  if (missing.length > 0)
    throw badRequest(Object.fromEntries(missing.map((field) => [field, ['is required']])));
  return input as Record<AnswerField, string>;
}
