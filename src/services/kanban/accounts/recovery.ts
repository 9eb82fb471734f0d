// Getting back in with the recovery key: a challenge is sealed to the account's public key, and whoever opens it holds
// the private key (contract, section 5). For addresses without an account the answer is made up, the same each time.
import { createHmac, randomBytes } from 'node:crypto';
import { createId } from '../../../platform/ids.ts';
import { hashPassword } from '../../../platform/passwords.ts';
import { hashToken, tokenMatches } from '../../../platform/tokens.ts';
import { KanbanError } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { normaliseEmail } from './email.ts';
import { seal } from './sealed-box.ts';

export interface RecoveryChallenge {
  challengeId: string;
  /** A libsodium sealed box of the challenge, base64url. */
  sealedChallenge: string;
  encRecoveryBlob: string;
  encPrivateKey: string;
  expiresAt: Date;
}

export interface RecoveryAnswer {
  challengeId: string;
  /** The opened challenge, base64url. */
  proof: string;
  authHash: string;
  encPrivateKey: string;
  encSymmetricKey: string;
  encRecoveryBlob: string;
}

const CHALLENGE_MS = 10 * 60_000;
const CHALLENGE_BYTES = 32;

// What a client of ours makes: XChaCha20-Poly1305 of 32 bytes, so 24 of nonce and 48 of ciphertext.
const NONCE_LENGTH = 24;
const CIPHERTEXT_LENGTH = 48;

const challengeKey = (challengeId: string) => `recovery:${challengeId}`;

/** Begins a recovery; answers alike whether or not there is an account. */
export async function beginRecovery(service: KanbanService, address: string): Promise<RecoveryChallenge> {
  const { clock, database, ephemeral } = service.platform;
  const email = normaliseEmail(address);
  const account = await database
    .selectFrom('account')
    .select(['id', 'publicKey', 'encRecoveryBlob', 'encPrivateKey'])
    .where('email', '=', email)
    .where('deletedAt', 'is', null)
    .executeTakeFirst();
  const decoy = (purpose: string, length: number) => decoyBytes(service, `${purpose} ${email}`, length);
  const challenge = randomBytes(CHALLENGE_BYTES).toString('base64url');
  const now = clock.now();
  const challengeId = createId(now);
  const publicKey = account?.publicKey ?? decoy('public key', 32).toString('base64url');
  const sealedChallenge = await seal(challenge, publicKey);
  // An empty account id: nobody can answer it, and it costs the same to keep.
  const kept = JSON.stringify({
    accountId: account?.id ?? '',
    hash: hashToken(challenge).toString('base64url'),
  });
  await ephemeral.put(challengeKey(challengeId), kept, CHALLENGE_MS);
  const blob = (purpose: string) =>
    `v1.${decoy(`${purpose} nonce`, NONCE_LENGTH).toString('base64url')}.${decoy(purpose, CIPHERTEXT_LENGTH).toString('base64url')}`;
  return {
    challengeId,
    sealedChallenge,
    encRecoveryBlob: account?.encRecoveryBlob ?? blob('recovery blob'),
    encPrivateKey: account?.encPrivateKey ?? blob('private key'),
    expiresAt: new Date(now + CHALLENGE_MS),
  };
}

/**
 * Finishes a recovery: new credentials, and every session ends. TOTP stays enrolled.
 *
 * @throws {KanbanError} INVALID_CREDENTIALS for a proof that is wrong, late, or was used
 */
export async function finishRecovery(service: KanbanService, answer: RecoveryAnswer): Promise<void> {
  const { database, ephemeral } = service.platform;
  const kept = await ephemeral.take(challengeKey(answer.challengeId));
  const { accountId, hash } = JSON.parse(kept ?? '{"accountId":"","hash":""}') as Record<string, string>;
  const isRight = tokenMatches(answer.proof, hash ? Buffer.from(hash, 'base64url') : undefined);
  if (!isRight || !accountId) {
    throw new KanbanError('INVALID_CREDENTIALS', 'The proof is wrong, or came too late.');
  }
  const authHash = await hashPassword(answer.authHash);
  await database.transaction().execute(async (transaction) => {
    const { numUpdatedRows } = await transaction
      .updateTable('account')
      .set({
        authHash,
        encPrivateKey: answer.encPrivateKey,
        encSymmetricKey: answer.encSymmetricKey,
        encRecoveryBlob: answer.encRecoveryBlob,
      })
      .where('id', '=', accountId)
      .where('deletedAt', 'is', null)
      .executeTakeFirst();
    if (numUpdatedRows === 0n) {
      throw new KanbanError('INVALID_CREDENTIALS', 'The proof is wrong, or came too late.');
    }
    await transaction.deleteFrom('session').where('accountId', '=', accountId).execute();
  });
  await service.sessions.forget({ accountId });
}

/** Bytes that look random and are the same each time (HMAC in counter mode). */
function decoyBytes({ platform }: KanbanService, purpose: string, length: number): Buffer {
  const blocks: Buffer[] = [];
  for (let block = 0; blocks.length * 32 < length; block++) {
    blocks.push(createHmac('sha256', platform.secrets.kanban.decoy).update(`${block} ${purpose}`).digest());
  }
  return Buffer.concat(blocks).subarray(0, length);
}
