// The result of a tokenization in a form that is small, is copied between threads as one block of memory,
// and can be cached: one 32-bit number a token.
import { tokenKinds } from './token-kinds.ts';

/**
 * Tokens in the order of the text. Each number holds where the token starts (UTF-16 units from the start of
 * the content) above its kind; it ends where the next one starts. Kind 0 covers everything in between.
 */
export type Tokens = Uint32Array<ArrayBuffer>;

const KIND_BITS = 5;
const KIND_MASK = 2 ** KIND_BITS - 1;

if (tokenKinds.length > KIND_MASK) throw new Error('There are more kinds of token than fit their bits.');

export function packToken(start: number, kind: number): number {
  return start * 2 ** KIND_BITS + kind;
}

export function tokenStart(token: number): number {
  return token >>> KIND_BITS;
}

export function tokenKind(token: number): number {
  return token & KIND_MASK;
}
