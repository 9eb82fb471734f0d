// What `svc paste [file]` does: reads, sends, prints the address, remembers the delete token.
import { basename } from 'node:path';
import type { Command } from 'commander';
import { messageOf } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import { callApi, successfulJson } from '../api-client.ts';
import { copyToClipboard } from '../clipboard.ts';
import { drawQr } from '../draw-qr.ts';
import { type OwnPaste, ownPastes } from '../own-pastes.ts';
import { type PasswordFlags, readPassword } from '../read-password.ts';
import { serverOf } from '../server-of.ts';
import { isInteractive, note, print, printJson, type Terminal } from '../terminal.ts';
import { usage } from '../usage.ts';
import { readContent } from './input.ts';
import { PASTE_HINTS, PASTE_SERVER } from './server-address.ts';

interface CreateFlags extends PasswordFlags {
  lang?: string;
  title?: string;
  expires: string;
  burn?: boolean;
  id?: string;
  copy?: boolean;
  qr?: boolean;
  json?: boolean;
  quiet?: boolean;
}

// What people type for the periods of the API.
const EXPIRY_SYNONYMS: Record<string, string> = {
  '10m': '10min',
  '60m': '1h',
  '24h': '1d',
  '7d': '1w',
  '30d': '1mo',
  '365d': '1y',
};

/** Creates a paste. */
export async function runCreate(
  terminal: Terminal,
  command: Command,
  file: string | undefined,
): Promise<void> {
  if (file === undefined && terminal.stdin.isTTY) {
    command.outputHelp({ error: true });
    throw usage('there is nothing to paste', 'name a file, or pipe something in: echo hello | svc paste');
  }
  const flags = command.opts<CreateFlags>();
  const fromStdin = file === undefined || file === '-';
  const server = await serverOf(terminal, command, PASTE_SERVER);
  const content = await readContent(terminal, file);
  const password = await readPassword(terminal, flags, 'PASTE_PASSWORD', fromStdin);
  const title = flags.title ?? (fromStdin ? undefined : [...basename(file)].slice(0, 100).join(''));
  const language = flags.lang ?? (fromStdin ? 'plaintext' : await guess(file));
  const reply = await callApi(
    server,
    {
      method: 'POST',
      path: '/api/pastes',
      json: {
        content,
        title,
        language,
        expiresIn: EXPIRY_SYNONYMS[flags.expires] ?? flags.expires,
        password,
        burnAfterRead: flags.burn ?? false,
        customId: flags.id,
      },
    },
    PASTE_HINTS,
  );
  const created = successfulJson(server, reply, PASTE_HINTS);
  const { pasteId, url, deleteToken, expiresAt } = created;
  const own: OwnPaste = {
    pasteId: String(pasteId),
    url: String(url),
    server,
    title: title ?? null,
    language,
    deleteToken: String(deleteToken),
    createdAt: new Date().toISOString(),
    expiresAt: String(expiresAt),
    burnAfterRead: flags.burn ?? false,
    hasPassword: password !== undefined,
  };
  if (flags.json) printJson(terminal, created);
  else print(terminal, own.url);
  remember(terminal, own);
  if (!flags.quiet && isInteractive(terminal)) {
    note(terminal, `expires ${own.expiresAt}; svc paste delete ${own.pasteId} removes it`);
  }
  if (flags.qr) note(terminal, await drawQr(own.url));
  if (flags.copy && !(await copyToClipboard(terminal, own.url))) process.exitCode = EXIT.partial;
}

async function guess(file: string): Promise<string> {
  const { guessLanguage } = await import('../../services/paste/languages.ts');
  return guessLanguage(file);
}

function remember(terminal: Terminal, own: OwnPaste): void {
  try {
    ownPastes.remember(terminal.env, own);
  } catch (error) {
    note(
      terminal,
      `svc: your own list cannot be written (${messageOf(error)}); the delete token is ${own.deleteToken}`,
    );
  }
}
