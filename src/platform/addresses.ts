// Client addresses are reduced to a keyed hash before anything is stored or counted under them (contract, section 2).
import type { KeyObject } from 'node:crypto';
import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { keyedHash } from './secrets.ts';

/**
 * The part of an address that identifies a client: an IPv4 address as it is (IPv4-mapped IPv6 too), an IPv6
 * address by its /64, since one household holds at least that many.
 */
export function addressIdentity(address: string): string {
  if (isIPv4(address)) return address;
  // A zone (`fe80::1%eth0`) names this machine's interface, not the client.
  const bare = address.split('%')[0] ?? address;
  if (!ipaddr.isValid(bare)) return bare;
  const parsed = ipaddr.process(bare);
  if (parsed instanceof ipaddr.IPv4) return parsed.toString();
  return `${parsed.parts
    .slice(0, 4)
    .map((part) => part.toString(16))
    .join(':')}::/64`;
}

/** HMAC-SHA-256 of the identity of a client address, base64url, 43 characters. */
export function hashAddress(addressKey: KeyObject, address: string): string {
  return keyedHash(addressKey, addressIdentity(address));
}
