// What `svc paste delete` does.
import type { Command } from 'commander';
import { callApi } from '../api-client.ts';
import { type DeletableKind, deleteOwn } from '../delete-own.ts';
import { type OwnPaste, ownPastes } from '../own-pastes.ts';
import type { Terminal } from '../terminal.ts';
import { namedPaste, PASTE_HINTS, PASTE_SERVER } from './server-address.ts';

const PASTES: DeletableKind<OwnPaste> = {
  noun: 'paste',
  idName: 'pasteId',
  tokenVariable: 'PASTE_DELETE_TOKEN',
  list: ownPastes,
  server: PASTE_SERVER,
  hints: PASTE_HINTS,
  parse: (argument) => {
    const { pasteId, origin } = namedPaste(argument);
    return { id: pasteId, origin };
  },
  send: (server, id, deleteToken) =>
    callApi(
      server,
      { method: 'DELETE', path: `/api/pastes/${id}?token=${encodeURIComponent(deleteToken)}` },
      PASTE_HINTS,
    ),
};

/** Deletes pastes. */
export function runDelete(terminal: Terminal, command: Command, addresses: string[]): Promise<void> {
  return deleteOwn(terminal, command, PASTES, addresses);
}
