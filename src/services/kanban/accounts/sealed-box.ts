// Sealing a text to a public key (libsodium sealed boxes): the one thing the server ever encrypts for a client.

/**
 * Seals a text to an X25519 public key in base64url; answers the box as base64url. A key that is none of that form is
 * replaced by a random one: the server does not judge what clients stored, and nobody can open that box.
 */
export async function seal(text: string, publicKey: string): Promise<string> {
  // Loaded when somebody needs it: a megabyte of WebAssembly.
  const { default: sodium } = await import('libsodium-wrappers');
  await sodium.ready;
  const bytes = Buffer.from(publicKey, 'base64url');
  const key =
    bytes.byteLength === sodium.crypto_box_PUBLICKEYBYTES ? bytes : sodium.crypto_box_keypair().publicKey;
  return Buffer.from(sodium.crypto_box_seal(text, key)).toString('base64url');
}
