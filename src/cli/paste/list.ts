// What `svc paste list` does.
import type { Command } from 'commander';
import { type OwnPaste, ownPastes } from '../own-pastes.ts';
import { note, print, printJson, type Terminal } from '../terminal.ts';

interface ListFlags {
  all?: boolean;
  tokens?: boolean;
  json?: boolean;
}

/** Lists one's own pastes. */
export function runList(terminal: Terminal, command: Command): void {
  const { all = false, tokens = false, json = false } = command.optsWithGlobals<ListFlags>();
  const { things: pastes, damagedLines } = ownPastes.read(terminal.env);
  const now = new Date().toISOString();
  const shown = all ? pastes : pastes.filter((paste) => paste.expiresAt > now);
  for (const paste of shown) {
    const { deleteToken, ...rest } = paste;
    if (json) printJson(terminal, tokens ? paste : rest);
    else print(terminal, row(paste, tokens ? deleteToken : ''));
  }
  if (shown.length === 0 && !json) note(terminal, 'nothing here yet: echo hello | svc paste');
  if (damagedLines > 0) note(terminal, `svc: ${damagedLines} damaged lines of the list were skipped`);
}

function row(
  { url, language, title, expiresAt, burnAfterRead, hasPassword }: OwnPaste,
  token: string,
): string {
  const marks = [burnAfterRead ? 'burn' : '', hasPassword ? 'password' : ''].filter(Boolean).join(',');
  return [url, `until ${expiresAt.slice(0, 16)}Z`, language, marks || '-', title ?? '-', token]
    .join('  ')
    .trimEnd();
}
