// What `svc link get` does.
import type { Command } from 'commander';
import { callApi, successfulJson } from '../api-client.ts';
import { serverOf } from '../server-of.ts';
import { print, printJson, type Terminal } from '../terminal.ts';
import { LINK_HINTS, LINK_SERVER, namedLink } from './link-address.ts';

/** Prints what is known of a link. */
export async function runGet(terminal: Terminal, command: Command, address: string): Promise<void> {
  const { json = false } = command.optsWithGlobals<{ json?: boolean }>();
  const link = await fetchLink(terminal, command, address, '');
  if (json) return printJson(terminal, link);
  const withheld = link.hasPassword ? 'protected by a password' : 'expired';
  const facts: Array<[string, unknown]> = [
    ['short', link.shortUrl],
    ['leads to', link.originalUrl ?? `(${withheld})`],
    ['clicks', link.clickCount],
    ['created', link.createdAt],
    ['expires', link.expiresAt ?? 'never'],
    ['password', link.hasPassword ? 'yes' : 'no'],
  ];
  for (const [name, value] of facts) print(terminal, `${name.padEnd(10)}${String(value)}`);
}

/** The JSON of a link, or of something below it (`/stats?days=7`). */
export async function fetchLink(
  terminal: Terminal,
  command: Command,
  address: string,
  below: string,
): Promise<Record<string, unknown>> {
  const { shortCode, origin } = namedLink(address);
  const server = origin ?? (await serverOf(terminal, command, LINK_SERVER));
  const path = `/api/links/${shortCode}${below}`;
  return successfulJson(server, await callApi(server, { method: 'GET', path }, LINK_HINTS), LINK_HINTS);
}
