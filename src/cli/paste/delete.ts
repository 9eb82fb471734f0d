// What `svc paste delete` does.
import type { Command } from 'commander';
import { Failure, messageOf } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import { callApi, refusal } from '../api-client.ts';
import { forgetPaste, ownPastes } from '../own-pastes.ts';
import { note, print, printJson, type Terminal } from '../terminal.ts';
import { readStream } from './input.ts';
import { type NamedPaste, namedPaste, serverOf, usage } from './server-address.ts';

/** Deletes pastes; goes on after one that cannot be deleted. */
export async function runDelete(terminal: Terminal, command: Command, addresses: string[]): Promise<void> {
  const { json = false, tokenStdin = false } = command.optsWithGlobals<{
    json?: boolean;
    tokenStdin?: boolean;
  }>();
  const given = tokenStdin
    ? (await readStream(terminal.stdin)).toString().trim()
    : terminal.env.PASTE_DELETE_TOKEN;
  const failures: unknown[] = [];
  for (const address of addresses) {
    try {
      const named = namedPaste(address);
      await deleteOne(terminal, command, named, given || undefined);
      if (json) printJson(terminal, { pasteId: named.pasteId, deleted: true });
      else print(terminal, `deleted ${named.pasteId}`);
    } catch (error) {
      failures.push(error);
      if (addresses.length > 1) note(terminal, `svc: ${address}: ${messageOf(error)}`);
    }
  }
  if (failures.length === 0) return;
  if (failures.length < addresses.length) process.exitCode = EXIT.partial;
  else throw failures[0];
}

async function deleteOne(
  terminal: Terminal,
  command: Command,
  { pasteId, origin }: NamedPaste,
  given: string | undefined,
): Promise<void> {
  const own = ownPastes(terminal.env)
    .pastes.filter((paste) => paste.pasteId === pasteId)
    .at(-1);
  const deleteToken = given ?? own?.deleteToken;
  if (deleteToken === undefined) {
    throw usage(
      `the delete token of ${pasteId} is not in your own list`,
      'give it with --token-stdin or PASTE_DELETE_TOKEN',
    );
  }
  const server = origin ?? (await serverOf(terminal, command, own && new URL(own.url).origin));
  const path = `/api/pastes/${pasteId}?token=${encodeURIComponent(deleteToken)}`;
  const reply = await callApi(server, { method: 'DELETE', path });
  if (reply.status !== 204 && reply.status !== 404) throw refusal(server, reply);
  if (own) forgetPaste(terminal.env, own);
  if (reply.status === 204) return;
  throw new Failure({
    code: 'REFUSED',
    message: `${pasteId} is already gone, or the token is not its own`,
    hint: 'svc paste list shows what is still on your list',
    exit: EXIT.failed,
  });
}
