// Identifiers, from a cryptographic source: those that people read and type, and those of kanban objects.
import { randomBytes } from 'node:crypto';

// No 0 O o, no 1 I i l: 55 characters that survive being read aloud or copied by hand.
export const READABLE_ALPHABET = '23456789abcdefghjkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ';

const TIME_LENGTH = 9;
const COUNTER_LENGTH = 3;
const MOST_OF_A_MOMENT = 36 ** COUNTER_LENGTH;
const ID_LENGTH = 25;
const BASE_36 = '0123456789abcdefghijklmnopqrstuvwxyz';

let moment = 0;
let counter = 0;

/** Form of an identifier that `createId` makes. */
export const ID_PATTERN = /^c[a-z0-9]{1,63}$/;

/**
 * An identifier of a kanban object (contract, section 2): `c` and 24 characters, ordered by time at the front so that
 * inserts stay local in an index, the rest from a cryptographic source. Those that one process makes are in the order
 * in which it made them, within a millisecond too.
 */
export function createId(nowMs: number): string {
  counter = nowMs > moment ? 0 : counter + 1;
  moment = Math.max(moment, nowMs);
  if (counter === MOST_OF_A_MOMENT) {
    moment++;
    counter = 0;
  }
  const order =
    moment.toString(36).padStart(TIME_LENGTH, '0') + counter.toString(36).padStart(COUNTER_LENGTH, '0');
  return `c${order}${randomText(BASE_36, ID_LENGTH - 1 - order.length)}`;
}

/** A random text of `length` characters, each equally likely. */
export function randomReadableId(length: number): string {
  return randomText(READABLE_ALPHABET, length);
}

function randomText(alphabet: string, length: number): string {
  const usable = 256 - (256 % alphabet.length);
  let text = '';
  while (text.length < length) {
    for (const byte of randomBytes(length * 2)) {
      // Bytes above the last whole multiple would favour the first characters.
      if (byte < usable) text += alphabet[byte % alphabet.length];
      if (text.length === length) break;
    }
  }
  return text;
}
