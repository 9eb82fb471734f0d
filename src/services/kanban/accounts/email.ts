// Email addresses: one spelling for each account, and a keyed hash of it where the address itself must not be kept.
import { keyedHash, type Secrets } from '../../../platform/secrets.ts';

/** The spelling under which an address is stored and looked up. */
export function normaliseEmail(email: string): string {
  return email.trim().normalize('NFC').toLowerCase();
}

/** A hash of a normalised address for counters that must treat addresses without an account alike. */
export function emailHash({ kanban }: Secrets, email: string): string {
  return keyedHash(kanban.email, email);
}

/** The salt of an address (contract, section 5): a known and an unknown address get the same kind of answer. */
export function saltOf({ kanban }: Secrets, email: string): string {
  return keyedHash(kanban.salt, email).slice(0, 22);
}
