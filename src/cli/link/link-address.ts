// Where links are, and which one an argument names.
import type { ServiceHints } from '../api-client.ts';
import type { ServerChoice } from '../server-of.ts';
import { usage } from '../usage.ts';

export const LINK_SERVER: ServerChoice = {
  fallback: 'http://localhost:3003',
  urlIn: ({ links }) => links.url,
};

export const LINK_HINTS: ServiceHints = {
  service: 'link',
  variable: 'LINKS_URL',
  byStatus: {
    404: 'see whether the address is right; deleted links are gone for good',
    409: 'choose another --code, or leave it out to have one made',
  },
};

export interface NamedLink {
  shortCode: string;
  /** Set when the argument was a whole address. */
  origin: string | undefined;
}

/**
 * Reads `k3XqP9w` or `https://sho.rt/k3XqP9w`, a `+` behind it or not.
 *
 * @throws {Failure} USAGE
 */
export function namedLink(argument: string): NamedLink {
  const url = URL.canParse(argument) ? new URL(argument) : undefined;
  if (url && !/^https?:$/.test(url.protocol)) {
    throw usage(
      `${argument} is no address of a short link`,
      'give its code, or an address with http or https',
    );
  }
  const shortCode = (url ? url.pathname.slice(1) : argument).replace(/\+$/, '');
  if (!/^[a-zA-Z0-9_-]{3,20}$/.test(shortCode)) {
    throw usage(`${argument} names no short link`, 'give its code or its address');
  }
  return { shortCode, origin: url?.origin };
}
