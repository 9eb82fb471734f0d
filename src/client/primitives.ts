// The cryptography of the clients (contract, section 5), on libsodium, hash-wasm and Web Crypto; nothing here is ours
// but how they are put together. Works in browsers and in Node.
import { argon2id } from 'hash-wasm';
import sodium from 'libsodium-wrappers';
import { concat } from './bytes.ts';

/** How a password becomes keys; the server says it, so that it can be raised one day. */
export interface KeyDerivation {
  algorithm: 'argon2id';
  memoryKiB: number;
  iterations: number;
  parallelism: number;
}

export interface PasswordKeys {
  /** What the server gets to know, base64url. */
  authHash: string;
  /** What it never does. */
  wrappingKey: Uint8Array;
}

export interface KeyPair {
  publicKey: Uint8Array;
  privateKey: Uint8Array;
}

const KEY_BYTES = 32;
const RECOVERY_KEY_BYTES = 20;
const VERSION = 'v1';
// A server that asks for less than what it is specified to ask for wants the password.
const LEAST: KeyDerivation = { algorithm: 'argon2id', memoryKiB: 65_536, iterations: 3, parallelism: 4 };
// No 0 1 I O: 32 letters that survive being written down.
const RECOVERY_ALPHABET = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ';

/** Resolves once libsodium is there; every function that does not wait itself needs it. */
export async function ready(): Promise<void> {
  await sodium.ready;
}

/**
 * Derives the keys of a password: Argon2id, then HKDF-SHA-256 (RFC 5869) into two that tell nothing of each other.
 *
 * @throws when the server asks for a weaker derivation than the specification does
 */
export async function deriveKeys(
  password: string,
  salt: string,
  { algorithm, memoryKiB, iterations, parallelism }: KeyDerivation,
): Promise<PasswordKeys> {
  if (algorithm !== LEAST.algorithm || memoryKiB < LEAST.memoryKiB || iterations < LEAST.iterations) {
    throw new Error(
      'the server asks for a weaker key derivation than it may: do not trust it with this password',
    );
  }
  const master = await argon2id({
    password: password.normalize('NFC'),
    salt: new TextEncoder().encode(salt),
    memorySize: memoryKiB,
    iterations,
    parallelism,
    hashLength: KEY_BYTES,
    outputType: 'binary',
  });
  const [authHash, wrappingKey] = await Promise.all([expand(master, 'svc/auth'), expand(master, 'svc/wrap')]);
  return { authHash: toBase64(authHash), wrappingKey };
}

async function expand(master: Uint8Array, purpose: string): Promise<Uint8Array> {
  const key = await crypto.subtle.importKey('raw', new Uint8Array(master), 'HKDF', false, ['deriveBits']);
  const info = new TextEncoder().encode(purpose);
  const parameters = { name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info };
  return new Uint8Array(await crypto.subtle.deriveBits(parameters, key, KEY_BYTES * 8));
}

/** A new symmetric key. */
export function newKey(): Uint8Array {
  return sodium.randombytes_buf(KEY_BYTES);
}

/** A new X25519 key pair. */
export function newKeyPair(): KeyPair {
  const { publicKey, privateKey } = sodium.crypto_box_keypair();
  return { publicKey, privateKey };
}

/** The public half of a private key. */
export function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  return sodium.crypto_scalarmult_base(privateKey);
}

/**
 * Encrypts with XChaCha20-Poly1305: `v1.<nonce>.<ciphertext>`.
 *
 * @param context - what it is (`card.title`), bound to it as associated data: nothing can be passed off as another
 */
export function encrypt(key: Uint8Array, plaintext: Uint8Array, context: string): string {
  const nonce = sodium.randombytes_buf(sodium.crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
  const ciphertext = sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(plaintext, context, null, nonce, key);
  return `${VERSION}.${toBase64(nonce)}.${toBase64(ciphertext)}`;
}

/**
 * Decrypts what `encrypt` made.
 *
 * @throws when the key or the context is another one, or it was changed
 */
export function decrypt(key: Uint8Array, encrypted: string, context: string): Uint8Array {
  const [nonce, ciphertext] = partsOf(encrypted);
  return sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(null, ciphertext, context, nonce, key);
}

/**
 * Encrypts bytes for the relay under the newest of the keys: nonce, then ciphertext (XChaCha20-Poly1305).
 *
 * @param keys - by epoch
 */
export function sealPayload(
  keys: ReadonlyMap<number, Uint8Array>,
  plaintext: Uint8Array,
  context: string,
): Uint8Array {
  const key = newestFirst(keys)[0];
  if (!key) throw new Error('the board has no key');
  const nonce = sodium.randombytes_buf(sodium.crypto_aead_xchacha20poly1305_ietf_NPUBBYTES);
  const ciphertext = sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(plaintext, context, null, nonce, key);
  return concat(nonce, ciphertext);
}

/** Decrypts what `sealPayload` made, with the newest key that opens it; undefined when none does. */
export function openPayload(
  keys: ReadonlyMap<number, Uint8Array>,
  sealed: Uint8Array,
  context: string,
): Uint8Array | undefined {
  const nonceLength = sodium.crypto_aead_xchacha20poly1305_ietf_NPUBBYTES;
  const [nonce, ciphertext] = [sealed.subarray(0, nonceLength), sealed.subarray(nonceLength)];
  for (const key of newestFirst(keys)) {
    try {
      return sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(null, ciphertext, context, nonce, key);
    } catch {
      // Of an older epoch, perhaps.
    }
  }
  return undefined;
}

function newestFirst(keys: ReadonlyMap<number, Uint8Array>): Uint8Array[] {
  return [...keys].sort(([one], [other]) => other - one).map(([, key]) => key);
}

/** Seals to a public key (libsodium sealed box), its ephemeral key where the nonce stands. */
export function sealTo(publicKey: Uint8Array, plaintext: Uint8Array): string {
  const box = sodium.crypto_box_seal(plaintext, publicKey);
  const ephemeral = box.subarray(0, sodium.crypto_box_PUBLICKEYBYTES);
  return `${VERSION}.${toBase64(ephemeral)}.${toBase64(box.subarray(ephemeral.length))}`;
}

/**
 * Opens what `sealTo` made.
 *
 * @throws when it was sealed to somebody else, or changed
 */
export function openSealed({ publicKey, privateKey }: KeyPair, sealed: string): Uint8Array {
  const [ephemeral, ciphertext] = partsOf(sealed);
  const box = new Uint8Array([...ephemeral, ...ciphertext]);
  return sodium.crypto_box_seal_open(box, publicKey, privateKey);
}

/** Opens a sealed box as libsodium makes it, in base64url: the challenge of a recovery. */
export function openBox({ publicKey, privateKey }: KeyPair, box: string): Uint8Array {
  return sodium.crypto_box_seal_open(fromBase64(box), publicKey, privateKey);
}

function partsOf(encrypted: string): [Uint8Array, Uint8Array] {
  const [version, first, second] = encrypted.split('.');
  if (version !== VERSION || first === undefined || second === undefined) {
    throw new Error('this is not of the form v1.<nonce>.<ciphertext>');
  }
  return [fromBase64(first), fromBase64(second)];
}

/** A new recovery key, to be shown once: 160 bits in groups of letters. */
export function newRecoveryKey(): string {
  const bytes = sodium.randombytes_buf(RECOVERY_KEY_BYTES);
  let bits = 0n;
  for (const byte of bytes) bits = (bits << 8n) | BigInt(byte);
  let letters = '';
  for (let index = 0; index < (RECOVERY_KEY_BYTES * 8) / 5; index++) {
    letters = (RECOVERY_ALPHABET[Number(bits & 31n)] ?? '') + letters;
    bits >>= 5n;
  }
  return letters.match(/.{4}/g)?.join('-') ?? letters;
}

/** The key behind a recovery key, however its groups were typed. */
export function recoveryWrappingKey(recoveryKey: string): Promise<Uint8Array> {
  const letters = recoveryKey.toUpperCase().replaceAll(/[^0-9A-Z]/g, '');
  // Its 160 random bits need no stretching.
  return expand(new TextEncoder().encode(letters), 'svc/recovery');
}

/** A short text by which two people can compare a public key over another channel. */
export function fingerprint(publicKey: Uint8Array): string {
  const hash = sodium.crypto_generichash(15, publicKey, null);
  return sodium.to_hex(hash).match(/.{5}/g)?.join(' ') ?? '';
}

/** Base64url without padding (RFC 4648, section 5). */
export function toBase64(bytes: Uint8Array): string {
  return sodium.to_base64(bytes, sodium.base64_variants.URLSAFE_NO_PADDING);
}

/** @throws for what is no base64url */
export function fromBase64(text: string): Uint8Array {
  return sodium.from_base64(text, sodium.base64_variants.URLSAFE_NO_PADDING);
}
