// Sealing a text to a public key (libsodium sealed boxes): the one thing the server ever encrypts for a client.
import { createPublicKey, diffieHellman, generateKeyPairSync } from 'node:crypto';

const X25519_BYTES = 32;

/**
 * Whether a text is an X25519 public key of low order: whatever is agreed upon with it is zero (RFC 7748, section 6.1),
 * so nothing can be sealed to it. A text that is no such key at all is none of these.
 */
export function isOfLowOrder(publicKey: string): boolean {
  const bytes = Buffer.from(publicKey, 'base64url');
  if (bytes.byteLength !== X25519_BYTES) return false;
  const jwk = { kty: 'OKP', crv: 'X25519', x: bytes.toString('base64url') };
  try {
    diffieHellman({
      privateKey: generateKeyPairSync('x25519').privateKey,
      publicKey: createPublicKey({ key: jwk, format: 'jwk' }),
    });
    return false;
  } catch {
    // OpenSSL refuses to derive zero.
    return true;
  }
}

/**
 * Seals a text to an X25519 public key in base64url; answers the box as base64url. A key that is none of that form, or
 * of low order, is replaced by a random one: nobody can open that box, and the answer looks like any other.
 */
export async function seal(text: string, publicKey: string): Promise<string> {
  // Loaded when somebody needs it: a megabyte of WebAssembly.
  const { default: sodium } = await import('libsodium-wrappers');
  await sodium.ready;
  const bytes = Buffer.from(publicKey, 'base64url');
  const isKey = bytes.byteLength === X25519_BYTES && !isOfLowOrder(publicKey);
  const key = isKey ? bytes : sodium.crypto_box_keypair().publicKey;
  return Buffer.from(sodium.crypto_box_seal(text, key)).toString('base64url');
}
