// Deleting things with the delete tokens of one's own list, or with one that is given: what pastes and links share.
import type { Command } from 'commander';
import { codeOf, Failure, messageOf } from '../platform/errors.ts';
import { EXIT } from '../platform/exit-codes.ts';
import { type ApiReply, refusal, type ServiceHints } from './api-client.ts';
import { isFrom, type OwnList, type OwnThing } from './own-list.ts';
import { readStream } from './read-input.ts';
import { namedServer, type ServerChoice } from './server-of.ts';
import { note, print, printJson, type Terminal } from './terminal.ts';
import { usage } from './usage.ts';

export interface DeletableKind<Thing extends OwnThing> {
  /** `paste`, as in `svc paste delete`. */
  noun: string;
  /** Name of the id in JSON: `pasteId`. */
  idName: keyof Thing & string;
  /** Variable that may hold a token: `PASTE_DELETE_TOKEN`. */
  tokenVariable: string;
  list: OwnList<Thing>;
  server: ServerChoice;
  hints: ServiceHints;
  /** Id and, from a whole address, origin. */
  parse: (argument: string) => { id: string; origin: string | undefined };
  /** Sends the deletion. */
  send: (server: string, id: string, deleteToken: string) => Promise<ApiReply>;
}

/** Deletes things; goes on after one that cannot be deleted (exit 3), fails when none could be. */
export async function deleteOwn<Thing extends OwnThing>(
  terminal: Terminal,
  command: Command,
  kind: DeletableKind<Thing>,
  addresses: string[],
): Promise<void> {
  const { json = false, tokenStdin = false } = command.optsWithGlobals<{
    json?: boolean;
    tokenStdin?: boolean;
  }>();
  const given = tokenStdin
    ? (await readStream(terminal.stdin)).toString().trim()
    : terminal.env[kind.tokenVariable];
  const failures: unknown[] = [];
  for (const address of addresses) {
    try {
      const { id, origin } = kind.parse(address);
      await deleteOne(terminal, command, kind, { id, origin, given: given || undefined });
      if (json) printJson(terminal, { [kind.idName]: id, deleted: true });
      else print(terminal, `deleted ${id}`);
    } catch (error) {
      failures.push(error);
      if (addresses.length === 1) break;
      if (json)
        printJson(terminal, { address, deleted: false, code: codeOf(error), message: messageOf(error) });
      else note(terminal, `svc: ${address}: ${messageOf(error)}`);
    }
  }
  if (failures.length === 0) return;
  if (failures.length === addresses.length) throw failures[0];
  throw new Failure({
    code: 'DONE_IN_PART',
    message: `${failures.length} of ${addresses.length} were not deleted`,
    hint: 'see what was said of each',
    exit: EXIT.partial,
  });
}

interface Target {
  id: string;
  origin: string | undefined;
  given: string | undefined;
}

async function deleteOne<Thing extends OwnThing>(
  terminal: Terminal,
  command: Command,
  kind: DeletableKind<Thing>,
  { id, origin, given }: Target,
): Promise<void> {
  const named = origin ?? (await namedServer(terminal, command, kind.server));
  // A token is for the server that gave it out, and shown to no other.
  const own = kind.list
    .read(terminal.env)
    .things.filter((thing) => thing[kind.idName] === id && (named === undefined || isFrom(thing, named)))
    .at(-1);
  const deleteToken = given ?? own?.deleteToken;
  if (deleteToken === undefined) {
    const where = named === undefined ? '' : ` at ${named}`;
    throw usage(
      `the delete token of ${id}${where} is not in your own list`,
      `give it with --token-stdin or ${kind.tokenVariable}`,
    );
  }
  const server = named ?? own?.server ?? (own && new URL(own.url).origin) ?? kind.server.fallback;
  const reply = await kind.send(server, id, deleteToken);
  const isGone = reply.status === 200 || reply.status === 204;
  if (!isGone && reply.status !== 404) throw refusal(server, reply, kind.hints);
  // A 404 for another token than the one on the list says nothing about the thing on the list.
  if (own && (isGone || deleteToken === own.deleteToken)) kind.list.forget(terminal.env, own);
  if (isGone) return;
  throw new Failure({
    code: 'REFUSED',
    message: `${id} is already gone, or the token is not its own`,
    hint: `svc ${kind.noun} list shows what is still on your list`,
    exit: EXIT.failed,
  });
}
