// Secrets that the server has to read again (TOTP, webhooks), at rest under a key from SVC_SECRET: AES-256-GCM.
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { Secrets } from '../../../platform/secrets.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/** Seals a text: nonce, tag, ciphertext. */
export function sealSecret({ kanban }: Secrets, text: string): Buffer {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv('aes-256-gcm', kanban.sealing, nonce);
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]);
}

/**
 * Opens what `sealSecret` made.
 *
 * @throws when it was changed, or sealed under another SVC_SECRET
 */
export function openSecret({ kanban }: Secrets, sealed: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', kanban.sealing, sealed.subarray(0, NONCE_BYTES));
  decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const ciphertext = sealed.subarray(NONCE_BYTES + TAG_BYTES);
  return decipher.update(ciphertext, undefined, 'utf8') + decipher.final('utf8');
}
