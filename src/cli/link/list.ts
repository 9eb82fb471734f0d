// What `svc link list` does.
import type { Command } from 'commander';
import { type OwnLink, ownLinks } from '../own-links.ts';
import { note, print, printJson, type Terminal } from '../terminal.ts';

interface ListFlags {
  all?: boolean;
  tokens?: boolean;
  json?: boolean;
}

/** Lists one's own links. */
export function runList(terminal: Terminal, command: Command): void {
  const { all = false, tokens = false, json = false } = command.optsWithGlobals<ListFlags>();
  const { things: links, damagedLines } = ownLinks.read(terminal.env);
  const now = new Date().toISOString();
  const shown = all ? links : links.filter(({ expiresAt }) => expiresAt === null || expiresAt > now);
  for (const link of shown) {
    const { deleteToken, ...rest } = link;
    if (json) printJson(terminal, tokens ? link : rest);
    else print(terminal, row(link, tokens ? deleteToken : ''));
  }
  if (shown.length === 0 && !json) note(terminal, 'nothing here yet: svc link https://example.com');
  if (damagedLines > 0) note(terminal, `svc: ${damagedLines} damaged lines of the list were skipped`);
}

function row({ url, originalUrl, expiresAt, hasPassword }: OwnLink, token: string): string {
  const until = expiresAt === null ? 'for ever' : `until ${expiresAt.slice(0, 16)}Z`;
  return [url, until, hasPassword ? 'password' : '-', originalUrl, token].join('  ').trimEnd();
}
