// Passwords as Argon2id. The work runs on libuv's threads, a bounded number at a time, so that a flood of
// attempts neither exhausts memory nor starves file and DNS work.
import { randomBytes } from 'node:crypto';
import { argon2id, hash, verify } from 'argon2';
import pLimit from 'p-limit';
import { Overloaded } from './overloaded.ts';

// OWASP Password Storage Cheat Sheet, Argon2id: 19 MiB, 2 passes, 1 lane.
const PARAMETERS = { type: argon2id, memoryCost: 19_456, timeCost: 2, parallelism: 1 } as const;
const CONCURRENCY = 2;
const QUEUE_LIMIT = 200;

const limit = pLimit(CONCURRENCY);

/**
 * Hashes a password with Argon2id.
 *
 * @returns a PHC string with its salt and parameters
 * @throws {Overloaded} when too many are waiting
 */
export function hashPassword(password: string): Promise<string> {
  return queued(() => hash(password, PARAMETERS));
}

/**
 * Whether a password matches its hash, in time that does not depend on the answer.
 *
 * @throws {Overloaded} when too many are waiting
 */
export function verifyPassword(passwordHash: string, password: string): Promise<boolean> {
  return queued(() => verify(passwordHash, password));
}

// Of a random text that was thrown away, under the parameters above: matches nothing, costs what any other costs.
let nobodysHash: Promise<string> | undefined;

/**
 * Takes as long as `verifyPassword` does with a wrong password, for whatever has no password to compare with.
 *
 * @throws {Overloaded} when too many are waiting
 */
export async function verifyAgainstNothing(password: string): Promise<false> {
  nobodysHash ??= hash(randomBytes(32), PARAMETERS);
  await verifyPassword(await nobodysHash, password);
  return false;
}

function queued<T>(work: () => Promise<T>): Promise<T> {
  if (limit.pendingCount >= QUEUE_LIMIT) throw new Overloaded('too many passwords are being checked');
  return limit(work);
}
