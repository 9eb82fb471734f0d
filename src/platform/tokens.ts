// One-time tokens: 256 random bits for the bearer, their SHA-256 for the database.
import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** A new token with a prefix that says what it is for: `dk_…`. */
export function createToken(prefix: string): string {
  return `${prefix}${randomBytes(32).toString('base64url')}`;
}

/** SHA-256 of a token; enough at rest, since the token has 256 random bits. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

const NO_HASH = Buffer.alloc(32);

/** Whether a token has the given hash, compared in constant time; no hash never matches, at the same cost. */
export function tokenMatches(token: string, hash: Buffer | undefined): boolean {
  const equal = timingSafeEqual(hashToken(token), hash ?? NO_HASH);
  return equal && hash !== undefined;
}
