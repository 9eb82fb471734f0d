// Registering an account, and what a client needs before it can sign in.
import { createId } from '../../../platform/ids.ts';
import { hashPassword } from '../../../platform/passwords.ts';
import { invalidField, KanbanError } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { normaliseEmail, saltOf } from './email.ts';
import { isOfLowOrder } from './sealed-box.ts';

export interface Registration {
  email: string;
  /** Derived by the client from the password, which never comes here. */
  authHash: string;
  publicKey: string;
  encPrivateKey: string;
  encSymmetricKey: string;
  encRecoveryBlob: string;
}

/** An account as its owner and those they share a workspace with see it. */
export interface User {
  id: string;
  email: string;
  publicKey: string;
  totpEnabled: boolean;
  createdAt: Date;
}

/** How clients derive `authHash` (kanban-api.md, Authentication). */
export const KDF = { algorithm: 'argon2id', memoryKiB: 65_536, iterations: 3, parallelism: 4 } as const;

/**
 * Registers an account.
 *
 * @throws {KanbanError} BAD_REQUEST for a public key to which nothing can be sealed, CONFLICT when the address is taken
 */
export async function register({ platform }: KanbanService, input: Registration): Promise<User> {
  const { clock, database, secrets } = platform;
  if (isOfLowOrder(input.publicKey)) {
    throw invalidField('publicKey', 'is of low order: nothing can be sealed to it');
  }
  const email = normaliseEmail(input.email);
  const taken = new KanbanError('CONFLICT', 'There is an account with this address already.');
  // Asked first: Argon2 is dear, and whoever tries again should not pay for it.
  if (await isTaken(platform, email)) throw taken;
  const createdAt = new Date(clock.now());
  const row = await database
    .insertInto('account')
    .values({
      id: createId(createdAt.getTime()),
      email,
      salt: saltOf(secrets, email),
      authHash: await hashPassword(input.authHash),
      publicKey: input.publicKey,
      encPrivateKey: input.encPrivateKey,
      encSymmetricKey: input.encSymmetricKey,
      encRecoveryBlob: input.encRecoveryBlob,
      createdAt,
    })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .returning('id')
    .executeTakeFirst();
  if (!row) throw taken;
  return { id: row.id, email, publicKey: input.publicKey, totpEnabled: false, createdAt };
}

async function isTaken({ database }: KanbanService['platform'], email: string): Promise<boolean> {
  const row = await database.selectFrom('account').select('id').where('email', '=', email).executeTakeFirst();
  return row !== undefined;
}

/** The salt of an address, stored or derived: the answer does not tell whether there is an account. */
export async function beginLogin(
  { platform }: KanbanService,
  address: string,
): Promise<{ salt: string; kdf: typeof KDF }> {
  const email = normaliseEmail(address);
  const row = await platform.database
    .selectFrom('account')
    .select('salt')
    .where('email', '=', email)
    .executeTakeFirst();
  return { salt: row?.salt ?? saltOf(platform.secrets, email), kdf: KDF };
}
