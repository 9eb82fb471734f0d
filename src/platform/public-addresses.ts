// Which addresses belong to the public internet. The one table for everything a stranger may name: destinations of
// links, and where webhooks go.
import ipaddr from 'ipaddr.js';

/**
 * Whether an IP address is one of the public internet: not private, loopback, link-local, multicast, unspecified or
 * reserved for anything else (IANA special-purpose address registries, RFC 6890). An address that carries another
 * one (IPv4-mapped, NAT64, 6to4, Teredo) is none: what it would reach is up to a gateway.
 *
 * @param address - as `node:net` writes it, without brackets; anything else is not public
 */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  if (parsed.range() !== 'unicast') return false;
  // Beyond 2000::/3 nothing has been given out to the public (IANA IPv6 address space).
  return parsed instanceof ipaddr.IPv4 || ((parsed.parts[0] ?? 0) & 0xe000) === 0x2000;
}
