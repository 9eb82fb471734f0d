// WebAuthn credentials (W3C Web Authentication): registered by who is signed in, then good in place of a TOTP code.
// A challenge serves once and for five minutes.
import type {
  AuthenticationResponseJSON,
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
  RegistrationResponseJSON,
  VerifiedRegistrationResponse,
} from '@simplewebauthn/server';
import { sql } from 'kysely';
import { inTransaction } from '../../../platform/database/in-transaction.ts';
import { createId } from '../../../platform/ids.ts';
import { KanbanError, notFound } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';

export interface WebauthnCredential {
  id: string;
  credentialId: string;
  transports: string[];
  createdAt: Date;
  lastUsedAt: Date | null;
}

/** What an authenticator answers to a registration, as a client sends it: of the right form, and nothing more. */
export interface RegistrationAnswer {
  id: string;
  rawId: string;
  response: { clientDataJSON: string; attestationObject: string; transports?: string[] | undefined };
}

/** What an authenticator answers to a login, likewise. */
export interface AssertionAnswer {
  id: string;
  rawId: string;
  response: {
    clientDataJSON: string;
    authenticatorData: string;
    signature: string;
    userHandle?: string | null | undefined;
  };
}

const CHALLENGE_MS = 5 * 60_000;
const MOST_CREDENTIALS = 50;
const RELYING_PARTY_NAME = 'svc';

// Loaded when somebody needs it: few do, and it is large.
const library = () => import('@simplewebauthn/server');

type Ceremony = 'registration' | 'authentication';

/** The key names account, ceremony and challenge: one that was made for something else does not exist. */
function challengeKey(ceremony: Ceremony, accountId: string, challenge: string): string {
  return `webauthn:{${accountId}}:${ceremony}:${challenge}`;
}

function relyingParty({ platform }: KanbanService): { rpID: string; origin: string } {
  const { url } = platform.config.kanban;
  return { rpID: new URL(url).hostname, origin: new URL(url).origin };
}

/** Begins a registration: options for `navigator.credentials.create()`. */
export async function beginWebauthnRegistration(
  service: KanbanService,
  accountId: string,
): Promise<PublicKeyCredentialCreationOptionsJSON> {
  const { database, ephemeral } = service.platform;
  const account = await database
    .selectFrom('account')
    .select('email')
    .where('id', '=', accountId)
    .executeTakeFirstOrThrow();
  const known = await allCredentials(service, accountId);
  const { generateRegistrationOptions } = await library();
  const options = await generateRegistrationOptions({
    rpName: RELYING_PARTY_NAME,
    rpID: relyingParty(service).rpID,
    userName: account.email,
    userID: new TextEncoder().encode(accountId),
    attestationType: 'none',
    excludeCredentials: known.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: transports,
    })),
  });
  await ephemeral.put(challengeKey('registration', accountId, options.challenge), '1', CHALLENGE_MS);
  return options;
}

/**
 * Finishes a registration with what the authenticator answered.
 *
 * @throws {KanbanError} BAD_REQUEST for an answer that does not hold, CONFLICT for a credential that is registered or
 * one too many, NOT_FOUND when the account is being deleted
 */
export async function finishWebauthnRegistration(
  service: KanbanService,
  accountId: string,
  response: RegistrationAnswer,
): Promise<WebauthnCredential> {
  const { rpID, origin } = relyingParty(service);
  const { verifyRegistrationResponse } = await library();
  const verified = await verify(service, { ceremony: 'registration', accountId }, (expectedChallenge) =>
    verifyRegistrationResponse({
      response: response as unknown as RegistrationResponseJSON,
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: false,
    }),
  );
  if (!verified?.registrationInfo) {
    throw new KanbanError('BAD_REQUEST', 'The answer of the authenticator does not hold.');
  }
  return addCredential(service, accountId, verified.registrationInfo.credential);
}

function addCredential(
  { platform }: KanbanService,
  accountId: string,
  credential: NonNullable<VerifiedRegistrationResponse['registrationInfo']>['credential'],
): Promise<WebauthnCredential> {
  const now = new Date(platform.clock.now());
  return inTransaction(platform.database, async (transaction) => {
    // One after the other, so that none is one too many, and none comes in behind the deletion of the account.
    const account = await transaction
      .selectFrom('account')
      .select('id')
      .where('id', '=', accountId)
      .where('deletedAt', 'is', null)
      .forNoKeyUpdate()
      .executeTakeFirst();
    if (!account) throw notFound();
    const { count } = await transaction
      .selectFrom('webauthnCredential')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .where('accountId', '=', accountId)
      .executeTakeFirstOrThrow();
    if (count >= MOST_CREDENTIALS) {
      throw new KanbanError('CONFLICT', `An account has at most ${MOST_CREDENTIALS} credentials.`);
    }
    const row = await transaction
      .insertInto('webauthnCredential')
      .values({
        id: createId(now.getTime()),
        accountId,
        credentialId: credential.id,
        publicKey: Buffer.from(credential.publicKey),
        counter: credential.counter,
        transports: credential.transports ?? [],
        createdAt: now,
      })
      .onConflict((conflict) => conflict.column('credentialId').doNothing())
      .returning(['id', 'credentialId', 'transports', 'createdAt', 'lastUsedAt'])
      .executeTakeFirst();
    if (!row) throw new KanbanError('CONFLICT', 'This credential is registered already.');
    return row;
  });
}

async function allCredentials({ platform }: KanbanService, accountId: string): Promise<WebauthnCredential[]> {
  return platform.database
    .selectFrom('webauthnCredential')
    .select(['id', 'credentialId', 'transports', 'createdAt', 'lastUsedAt'])
    .where('accountId', '=', accountId)
    .orderBy('id')
    .execute();
}

/**
 * Removes a credential of an account.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export async function removeWebauthnCredential(
  { platform }: KanbanService,
  accountId: string,
  id: string,
): Promise<void> {
  const { numDeletedRows } = await platform.database
    .deleteFrom('webauthnCredential')
    .where('id', '=', id)
    .where('accountId', '=', accountId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw notFound();
}

/** Options for `navigator.credentials.get()`; undefined for an account without a credential. */
export async function beginWebauthnLogin(
  service: KanbanService,
  accountId: string,
): Promise<PublicKeyCredentialRequestOptionsJSON | undefined> {
  const known = await allCredentials(service, accountId);
  if (known.length === 0) return undefined;
  const { generateAuthenticationOptions } = await library();
  const options = await generateAuthenticationOptions({
    rpID: relyingParty(service).rpID,
    allowCredentials: known.map(({ credentialId, transports }) => ({
      id: credentialId,
      transports: transports,
    })),
  });
  await service.platform.ephemeral.put(
    challengeKey('authentication', accountId, options.challenge),
    '1',
    CHALLENGE_MS,
  );
  return options;
}

/** Whether an assertion is one of a credential of the account, to a challenge of ours that was not used before. */
export async function useWebauthn(
  service: KanbanService,
  accountId: string,
  response: AssertionAnswer,
): Promise<boolean> {
  const { clock, database } = service.platform;
  const known = await database
    .selectFrom('webauthnCredential')
    .selectAll()
    .where('accountId', '=', accountId)
    .where('credentialId', '=', response.id)
    .executeTakeFirst();
  if (!known) return false;
  const { rpID, origin } = relyingParty(service);
  const { verifyAuthenticationResponse } = await library();
  const result = await verify(service, { ceremony: 'authentication', accountId }, (expectedChallenge) =>
    verifyAuthenticationResponse({
      response: response as unknown as AuthenticationResponseJSON,
      expectedChallenge,
      expectedOrigin: origin,
      expectedRPID: rpID,
      requireUserVerification: false,
      credential: {
        id: known.credentialId,
        publicKey: new Uint8Array(known.publicKey),
        counter: known.counter,
      },
    }),
  );
  if (!result?.verified) return false;
  const { newCounter } = result.authenticationInfo;
  // Another assertion may have been looked at since the counter was read: it only ever grows, or is zero for ever.
  const { numUpdatedRows } = await database
    .updateTable('webauthnCredential')
    .set({ counter: newCounter, lastUsedAt: new Date(clock.now()) })
    .where('id', '=', known.id)
    .where(sql<boolean>`(counter < ${newCounter} OR (counter = 0 AND ${newCounter} = 0))`)
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/** What the library makes of an answer to a challenge of ours; undefined for each of the many ways of being wrong. */
async function verify<T>(
  { platform }: KanbanService,
  { ceremony, accountId }: { ceremony: Ceremony; accountId: string },
  work: (isExpected: (challenge: string) => Promise<boolean>) => Promise<T>,
): Promise<T | undefined> {
  // The library throws for what is wrong; a store that is away is none of that.
  let away: { error: unknown } | undefined;
  const isExpected = async (challenge: string) => {
    try {
      return (await platform.ephemeral.take(challengeKey(ceremony, accountId, challenge))) !== undefined;
    } catch (error) {
      away = { error };
      throw error;
    }
  };
  try {
    return await work(isExpected);
  } catch {
    if (away) throw away.error;
    return undefined;
  }
}
