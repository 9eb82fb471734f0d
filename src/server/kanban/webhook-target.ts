// Where a webhook may go, as far as its address tells (contract, section 5).
import ipaddr from 'ipaddr.js';
import { isPublicAddress } from '../../platform/public-addresses.ts';

/** What is wrong with the address of a webhook; undefined when nothing is. */
export function refuseTarget(text: string, allowPrivate: boolean): string | undefined {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) return 'must be an http or https address';
  if (url.username !== '' || url.password !== '') return 'must not hold credentials';
  if (allowPrivate) return undefined;
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const isLocalName = host === 'localhost' || host.endsWith('.localhost');
  const isPrivate = isLocalName || (ipaddr.isValid(host) && !isPublicAddress(host));
  return isPrivate ? 'must not lead to a private or reserved address' : undefined;
}
