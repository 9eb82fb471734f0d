// Signing in. An unknown address and a wrong hash are one answer, in body, status and time (contract, section 5).
import { type Selectable, sql } from 'kysely';
import type { AccountTable } from '../../../platform/database/kanban-tables.ts';
import { verifyAgainstNothing, verifyPassword } from '../../../platform/passwords.ts';
import { KanbanError } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { emailHash, normaliseEmail } from './email.ts';
import { type Attempt, beginAttempt, endAttempt, forgiveAttempt } from './login-backoff.ts';
import type { User } from './register.ts';
import { startSession } from './sessions.ts';
import { invalidTotp, useTotp } from './totp.ts';
import { type AssertionAnswer, beginWebauthnLogin, useWebauthn } from './webauthn.ts';

export interface Login {
  email: string;
  authHash: string;
  /** A code of the app, or a recovery code. */
  totp?: string | null | undefined;
  /** An assertion of a registered credential, in place of `totp`. */
  webauthn?: AssertionAnswer | null | undefined;
  addressHash: string;
  userAgent: string | undefined;
}

export interface SignedIn {
  user: User;
  encPrivateKey: string;
  encSymmetricKey: string;
  /** For the cookie. */
  token: string;
}

const KNOWN_ADDRESS_MS = 30 * 86_400_000;

/**
 * Signs in.
 *
 * @throws {KanbanError} INVALID_CREDENTIALS, TOTP_REQUIRED, INVALID_TOTP, RATE_LIMITED
 */
export async function login(service: KanbanService, input: Login): Promise<SignedIn> {
  const { clock, database, secrets } = service.platform;
  const email = normaliseEmail(input.email);
  const account = await database
    .selectFrom('account')
    .leftJoin('accountAddress', (join) =>
      join
        .onRef('accountAddress.accountId', '=', 'account.id')
        .on('accountAddress.addressHash', '=', input.addressHash)
        .on('accountAddress.signedInAt', '>', new Date(clock.now() - KNOWN_ADDRESS_MS)),
    )
    .selectAll('account')
    .select(sql<boolean>`account_address.account_id IS NOT NULL`.as('isKnownAddress'))
    .where('email', '=', email)
    .where('deletedAt', 'is', null)
    .executeTakeFirst();
  const attempt: Attempt = {
    emailHash: emailHash(secrets, email),
    addressHash: input.addressHash,
    isKnownAddress: account?.isKnownAddress ?? false,
  };
  await beginAttempt(service, attempt);
  try {
    const signedIn = await checkAndStart(service, account, input);
    await endAttempt(service, attempt);
    await rememberAddress(service, signedIn.user.id, input.addressHash);
    return signedIn;
  } catch (error) {
    // A second factor that is still to come, a server that is busy: nobody has guessed wrong.
    if (!isWrongGuess(error)) await forgiveAttempt(service, attempt);
    throw error;
  }
}

async function checkAndStart(
  service: KanbanService,
  account: Selectable<AccountTable> | undefined,
  input: Login,
): Promise<SignedIn> {
  const isRight = account?.authHash
    ? await verifyPassword(account.authHash, input.authHash)
    : await verifyAgainstNothing(input.authHash);
  if (!account?.authHash || !isRight) throw invalidCredentials();
  if (account.totpEnabled) await requireSecondFactor(service, account.id, input);
  const token = await startSession(service, {
    accountId: account.id,
    authHash: account.authHash,
    userAgent: input.userAgent,
  });
  if (token === undefined) throw invalidCredentials();
  return {
    user: {
      id: account.id,
      email: account.email,
      publicKey: account.publicKey ?? '',
      totpEnabled: account.totpEnabled,
      createdAt: account.createdAt,
    },
    encPrivateKey: account.encPrivateKey ?? '',
    encSymmetricKey: account.encSymmetricKey ?? '',
    token,
  };
}

function isWrongGuess(error: unknown): boolean {
  return (
    error instanceof KanbanError && (error.code === 'INVALID_CREDENTIALS' || error.code === 'INVALID_TOTP')
  );
}

function invalidCredentials(): KanbanError {
  return new KanbanError('INVALID_CREDENTIALS', 'The address and the password do not match.');
}

async function requireSecondFactor(
  service: KanbanService,
  accountId: string,
  { totp, webauthn }: Login,
): Promise<void> {
  if (totp == null && webauthn == null) {
    const options = await beginWebauthnLogin(service, accountId);
    throw new KanbanError('TOTP_REQUIRED', 'A second factor is needed: a code, or a registered credential.', {
      ...(options && { details: { webauthn: options } }),
    });
  }
  const isRight =
    webauthn != null
      ? await useWebauthn(service, accountId, webauthn)
      : await useTotp(service, accountId, totp ?? '');
  if (!isRight) throw invalidTotp();
}

async function rememberAddress(
  { platform }: KanbanService,
  accountId: string,
  addressHash: string,
): Promise<void> {
  const signedInAt = new Date(platform.clock.now());
  // Of an account that is there: the deletion may have come between, and would leave this behind.
  await platform.database
    .insertInto('accountAddress')
    .columns(['accountId', 'addressHash', 'signedInAt'])
    .expression((select) =>
      select
        .selectFrom('account')
        .select([
          'id',
          sql<string>`${addressHash}::text`.as('addressHash'),
          sql<Date>`${signedInAt}::timestamptz`.as('signedInAt'),
        ])
        .where('id', '=', accountId)
        .where('deletedAt', 'is', null)
        .forShare(),
    )
    .onConflict((conflict) => conflict.columns(['accountId', 'addressHash']).doUpdateSet({ signedInAt }))
    .execute();
}
