// The root secret of an installation and the keys derived from it.
import { createHmac, createSecretKey, hkdfSync, type KeyObject, randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf, Failure, messageOf } from './errors.ts';
import { EXIT } from './exit-codes.ts';

export interface Secrets {
  /** Key under which client addresses are hashed. */
  addressKey: KeyObject;
  /** Keys of the kanban service, by what they are for. */
  kanban: Record<KanbanKey, KeyObject>;
  /** Tells this installation from others with which it shares a Redis. No secret. */
  installation: string;
}

/**
 * Salts of logins, hashes of email addresses in counters, answers for addresses without an account, secrets that have
 * to be read again (TOTP, webhooks), recovery codes.
 */
export type KanbanKey = 'salt' | 'email' | 'decoy' | 'sealing' | 'recoveryCode';

const KANBAN_KEYS: readonly KanbanKey[] = ['salt', 'email', 'decoy', 'sealing', 'recoveryCode'];

/**
 * Derives the keys of an installation from its root secret (HKDF-SHA-256, RFC 5869), so that learning one
 * key tells nothing of another.
 */
export function deriveSecrets(rootSecret: string): Secrets {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', rootSecret, '', `svc/${purpose}`, 32));
  return {
    // Made once: a key that is given as bytes is turned into this for each hash, at six times the cost of the hash.
    addressKey: createSecretKey(derive('client-address')),
    kanban: Object.fromEntries(
      KANBAN_KEYS.map((name) => [name, createSecretKey(derive(`kanban/${name}`))]),
    ) as Record<KanbanKey, KeyObject>,
    installation: derive('installation').subarray(0, 6).toString('hex'),
  };
}

/**
 * The root secret kept in a data folder, made at the first call with mode 0600.
 *
 * Two processes that race for it end with the same one: the file appears whole or not at all.
 */
export function rootSecretOf(dataDir: string): string {
  const path = join(dataDir, 'secret');
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    const existing = readSecret(path);
    if (existing !== undefined) return existing;
    const partial = `${path}.${process.pid}.${randomBytes(4).toString('hex')}`;
    writeFileSync(partial, `${randomBytes(32).toString('base64url')}\n`, {
      mode: 0o600,
      flag: 'wx',
      flush: true,
    });
    try {
      linkSync(partial, path);
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    } finally {
      unlinkSync(partial);
    }
    return readSecret(path) ?? '';
  } catch (error) {
    if (error instanceof Failure) throw error;
    throw new Failure({
      code: 'SECRET_UNREADABLE',
      message: `the secret in ${path} cannot be read or made: ${messageOf(error)}`,
      hint: 'make the data folder writable for this user, or set SVC_SECRET',
      exit: EXIT.configuration,
      cause: error,
    });
  }
}

function readSecret(path: string): string | undefined {
  let text: string;
  try {
    text = readFileSync(path, 'utf8').trim();
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  if (text.length >= 32) return text;
  // Going on with an empty key would make every hash predictable: refuse instead.
  throw new Failure({
    code: 'SECRET_DAMAGED',
    message: `the secret in ${path} is shorter than 32 characters`,
    hint: 'restore the file from a backup, or remove it to have a new one made (rate limits start afresh)',
    exit: EXIT.configuration,
  });
}

/** HMAC-SHA-256 of a text under a derived key, as base64url. */
export function keyedHash(key: KeyObject, text: string): string {
  return createHmac('sha256', key).update(text).digest('base64url');
}
