// What `svc link delete` does.
import type { Command } from 'commander';
import { callApi } from '../api-client.ts';
import { type DeletableKind, deleteOwn } from '../delete-own.ts';
import { type OwnLink, ownLinks } from '../own-links.ts';
import type { Terminal } from '../terminal.ts';
import { LINK_HINTS, LINK_SERVER, namedLink } from './link-address.ts';

const LINKS: DeletableKind<OwnLink> = {
  noun: 'link',
  idName: 'shortCode',
  tokenVariable: 'LINK_DELETE_TOKEN',
  list: ownLinks,
  server: LINK_SERVER,
  hints: LINK_HINTS,
  parse: (argument) => {
    const { shortCode, origin } = namedLink(argument);
    return { id: shortCode, origin };
  },
  send: (server, id, deleteToken) =>
    callApi(
      server,
      { method: 'DELETE', path: `/api/links/${id}`, headers: { authorization: `Bearer ${deleteToken}` } },
      LINK_HINTS,
    ),
};

/** Deletes links. */
export function runDelete(terminal: Terminal, command: Command, addresses: string[]): Promise<void> {
  return deleteOwn(terminal, command, LINKS, addresses);
}
