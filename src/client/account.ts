// Accounts from the client's side: registering, signing in, getting back in. The password and the keys never leave.
import { createTransport, type Transport, type TransportOptions } from './http.ts';
import {
  decrypt,
  deriveKeys,
  encrypt,
  fromBase64,
  type KeyDerivation,
  type KeyPair,
  newKey,
  newKeyPair,
  newRecoveryKey,
  openBox,
  publicKeyOf,
  ready,
  recoveryWrappingKey,
  toBase64,
} from './primitives.ts';

/** Somebody who is signed in, with the keys that are theirs. */
export interface Account {
  transport: Transport;
  userId: string;
  email: string;
  keys: KeyPair;
}

const SYMMETRIC_KEY = 'user.symmetricKey';
const PRIVATE_KEY = 'user.privateKey';
const RECOVERY_BLOB = 'user.recoveryBlob';

interface LoginInit {
  salt: string;
  kdf: KeyDerivation;
}

interface User {
  id: string;
  email: string;
  publicKey: string;
}

async function keysOf(transport: Transport, email: string, password: string) {
  const { salt, kdf } = await transport.call<LoginInit>('POST', '/auth/login-init', { email });
  return deriveKeys(password, salt, kdf);
}

/**
 * Registers an account. The recovery key is the only way back in without the password: show it once.
 *
 * @throws {ApiError} CONFLICT when the address is taken
 */
export async function register(
  options: TransportOptions,
  email: string,
  password: string,
): Promise<{ userId: string; recoveryKey: string }> {
  await ready();
  const transport = createTransport(options);
  const { authHash, wrappingKey } = await keysOf(transport, email, password);
  const symmetricKey = newKey();
  const { publicKey, privateKey } = newKeyPair();
  const recoveryKey = newRecoveryKey();
  const { user } = await transport.call<{ user: User }>('POST', '/auth/register', {
    email,
    authHash,
    publicKey: toBase64(publicKey),
    encPrivateKey: encrypt(symmetricKey, privateKey, PRIVATE_KEY),
    encSymmetricKey: encrypt(wrappingKey, symmetricKey, SYMMETRIC_KEY),
    encRecoveryBlob: encrypt(await recoveryWrappingKey(recoveryKey), symmetricKey, RECOVERY_BLOB),
  });
  return { userId: user.id, recoveryKey };
}

/**
 * Signs in and unlocks the keys.
 *
 * @param totp - code of the app, or a recovery code of the second factor
 * @throws {ApiError} INVALID_CREDENTIALS, TOTP_REQUIRED, INVALID_TOTP, RATE_LIMITED
 */
export async function login(
  options: TransportOptions,
  email: string,
  password: string,
  totp?: string,
): Promise<Account> {
  await ready();
  const transport = createTransport(options);
  const { authHash, wrappingKey } = await keysOf(transport, email, password);
  const answer = await transport.call<{ user: User; encPrivateKey: string; encSymmetricKey: string }>(
    'POST',
    '/auth/login',
    { email, authHash, totp },
  );
  const symmetricKey = decrypt(wrappingKey, answer.encSymmetricKey, SYMMETRIC_KEY);
  const privateKey = decrypt(symmetricKey, answer.encPrivateKey, PRIVATE_KEY);
  const { id: userId, publicKey } = answer.user;
  return {
    transport,
    userId,
    email: answer.user.email,
    keys: { publicKey: fromBase64(publicKey), privateKey },
  };
}

/** Signs out. */
export async function logout({ transport }: Account): Promise<void> {
  await transport.call('POST', '/auth/logout');
}

/**
 * Gets back in with the recovery key, under a new password. Every session ends; sign in afterwards.
 *
 * @throws when the recovery key is wrong, or there is no such account: which of the two, nobody is told
 */
export async function recover(
  options: TransportOptions,
  email: string,
  recoveryKey: string,
  newPassword: string,
): Promise<void> {
  await ready();
  const transport = createTransport(options);
  const challenge = await transport.call<{
    challengeId: string;
    sealedChallenge: string;
    encRecoveryBlob: string;
    encPrivateKey: string;
  }>('POST', '/auth/recovery', { email });
  const recoveryWrapping = await recoveryWrappingKey(recoveryKey);
  const symmetricKey = decrypt(recoveryWrapping, challenge.encRecoveryBlob, RECOVERY_BLOB);
  const privateKey = decrypt(symmetricKey, challenge.encPrivateKey, PRIVATE_KEY);
  const publicKey = publicKeyOf(privateKey);
  const proof = new TextDecoder().decode(openBox({ publicKey, privateKey }, challenge.sealedChallenge));
  const { authHash, wrappingKey } = await keysOf(transport, email, newPassword);
  await transport.call('POST', '/auth/recovery', {
    challengeId: challenge.challengeId,
    proof,
    authHash,
    encPrivateKey: encrypt(symmetricKey, privateKey, PRIVATE_KEY),
    encSymmetricKey: encrypt(wrappingKey, symmetricKey, SYMMETRIC_KEY),
    encRecoveryBlob: encrypt(recoveryWrapping, symmetricKey, RECOVERY_BLOB),
  });
}
