// Signing in. An unknown address and a wrong hash are one answer, in body, status and time (contract, section 5).
import { sql } from 'kysely';
import { verifyAgainstNothing, verifyPassword } from '../../../platform/passwords.ts';
import { KanbanError } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { emailHash, normaliseEmail } from './email.ts';
import { type Attempt, beginAttempt, endAttempt, forgiveAttempt } from './login-backoff.ts';
import type { User } from './register.ts';
import { startSession } from './sessions.ts';
import { invalidTotp, useTotp } from './totp.ts';
import { beginWebauthnLogin, useWebauthn } from './webauthn.ts';

export interface Login {
  email: string;
  authHash: string;
  /** A code of the app, or a recovery code. */
  totp?: string | null | undefined;
  /** An assertion of a registered credential, in place of `totp`. */
  webauthn?: Record<string, unknown> | null | undefined;
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
  const isRight = account?.authHash
    ? await verifyPassword(account.authHash, input.authHash)
    : await verifyAgainstNothing(input.authHash);
  if (!account?.authHash || !isRight) throw invalidCredentials();
  if (account.totpEnabled) await requireSecondFactor(service, account.id, input, attempt);
  const token = await startSession(service, {
    accountId: account.id,
    authHash: account.authHash,
    userAgent: input.userAgent,
  });
  if (token === undefined) throw invalidCredentials();
  await endAttempt(service, attempt);
  await rememberAddress(service, account.id, input.addressHash);
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

function invalidCredentials(): KanbanError {
  return new KanbanError('INVALID_CREDENTIALS', 'The address and the password do not match.');
}

async function requireSecondFactor(
  service: KanbanService,
  accountId: string,
  { totp, webauthn }: Login,
  attempt: Attempt,
): Promise<void> {
  if (totp == null && webauthn == null) {
    await forgiveAttempt(service, attempt);
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
  await platform.database
    .insertInto('accountAddress')
    .values({ accountId, addressHash, signedInAt })
    .onConflict((conflict) => conflict.columns(['accountId', 'addressHash']).doUpdateSet({ signedInAt }))
    .execute();
}
