// Identifiers that people read and type: from a cryptographic source, in an alphabet without look-alikes.
import { randomBytes } from 'node:crypto';

// No 0 O o, no 1 I i l: 55 characters that survive being read aloud or copied by hand.
export const READABLE_ALPHABET = '23456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ';

/** A random text of `length` characters, each equally likely. */
export function randomReadableId(length: number): string {
  const usable = 256 - (256 % READABLE_ALPHABET.length);
  let id = '';
  while (id.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // Bytes above the last whole multiple would favour the first characters.
      if (byte < usable) id += READABLE_ALPHABET[byte % READABLE_ALPHABET.length];
      if (id.length === length) break;
    }
  }
  return id;
}
