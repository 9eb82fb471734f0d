// Where a link may lead: public web addresses, in no disguise (contract, section 4).
import { isIP } from 'node:net';
import { isPublicAddress } from '../../platform/public-addresses.ts';

/** Characters of a destination, at most (link-api.md, Limits). */
export const MAX_URL_LENGTH = 2048;

// A character may take twelve in a header. Servers and proxies take 8 KiB of all headers together, or little more.
const MAX_LOCATION_LENGTH = 8_000;

// Names that no public resolver knows, or that mean this machine or its network (RFC 6761, 6762, 8375, 9476; ICANN
// for `.internal`).
const PRIVATE_SUFFIXES = [
  'localhost',
  'localdomain',
  'local',
  'internal',
  'home.arpa',
  'lan',
  'intranet',
  'private',
  'corp',
  'home',
  'alt',
];

/**
 * Why a link may not lead to this URL, or undefined when it may.
 *
 * A URL parser decides what the host is, so that every spelling it accepts (decimal, octal, hex, short, full-width,
 * percent-encoded) is judged by what it means.
 *
 * @param ownHost - host of the service itself: a link to a link could go round for ever
 */
export function refuseDestination(url: string, ownHost: string): string | undefined {
  // Counting code points costs more than all else here; there are never more of them than units.
  if (url.length > MAX_URL_LENGTH && [...url].length > MAX_URL_LENGTH)
    return `must be at most ${MAX_URL_LENGTH} characters long`;
  // A URL parser drops tabs and line ends in silence, and marks of direction turn text around: what it reads would
  // not be what people see.
  if (/[\s\p{Cc}\u200e\u200f\u202a-\u202e\u2066-\u2069]/u.test(url))
    return 'must not contain white space or control characters';
  if (!/^https?:\/\//i.test(url)) return 'must begin with http:// or https://';
  const parsed = URL.parse(url);
  if (!parsed) return 'is not a valid URL';
  if (parsed.href.length > MAX_LOCATION_LENGTH)
    return `must be at most ${MAX_LOCATION_LENGTH} characters long when it is percent-encoded`;
  if (authorityOf(url).includes('@')) return 'must not contain a user name or password';
  const host = canonicalHost(parsed.hostname);
  if (host === undefined) return 'is not a valid URL';
  if (host === canonicalOwnHost(ownHost)) return 'must not lead to this service itself';
  const address = host.replace(/^\[|\]$/g, '');
  if (isIP(address) !== 0) {
    return isPublicAddress(address) ? undefined : 'must not lead to a private or reserved address';
  }
  return isPublicName(host) ? undefined : 'must not lead to a private or local host name';
}

function isPublicName(host: string): boolean {
  if (!host.includes('.')) return false;
  return !PRIVATE_SUFFIXES.some((suffix) => host === suffix || host.endsWith(`.${suffix}`));
}

function authorityOf(url: string): string {
  return /^https?:[\\/]+([^\\/?#]*)/i.exec(url)?.[1] ?? '';
}

/** A host without the dots at its end, behind which `127.1..` would pass for a name. */
function canonicalHost(host: string): string | undefined {
  const bare = `http://${host.replace(/\.+$/, '')}`;
  const hostname = URL.parse(bare)?.hostname;
  return hostname?.split('.').includes('') ? undefined : hostname;
}

let lastOwn: { host: string; canonical: string | undefined } | undefined;

/** The same for each of the many links of an import, so it is remembered. */
function canonicalOwnHost(host: string): string | undefined {
  if (lastOwn?.host !== host) lastOwn = { host, canonical: canonicalHost(host) };
  return lastOwn.canonical;
}
