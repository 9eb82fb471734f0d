// What `svc paste get` and `svc paste raw` do.
import { writeFile } from 'node:fs/promises';
import type { Command } from 'commander';
import { codeOf, messageOf } from '../../platform/errors.ts';
import { type ApiReply, callApi, refusal, successfulJson } from '../api-client.ts';
import { type PasswordFlags, readPassword } from '../read-password.ts';
import { serverOf } from '../server-of.ts';
import { askPassword, confirm, isInteractive, print, type Terminal } from '../terminal.ts';
import { usage } from '../usage.ts';
import { namedPaste, PASTE_HINTS, PASTE_SERVER } from './server-address.ts';

interface ReadFlags extends PasswordFlags {
  output?: string;
  yes?: boolean;
  json?: boolean;
}

/** Reads a paste and prints it exactly, through the API or its raw form. */
export async function runRead(
  terminal: Terminal,
  command: Command,
  address: string,
  form: 'get' | 'raw',
): Promise<void> {
  const flags = command.optsWithGlobals<ReadFlags>();
  const { pasteId, origin } = namedPaste(address);
  const server = origin ?? (await serverOf(terminal, command, PASTE_SERVER));
  const password = await readPassword(terminal, flags, 'PASTE_PASSWORD', false);
  let reply = await fetchPaste(server, pasteId, form, password);
  if (reply.status === 403 && password === undefined && isInteractive(terminal)) {
    const answer = await askPassword(terminal, 'Password of the paste', '--password-stdin');
    reply = await fetchPaste(server, pasteId, form, answer);
  }
  if (reply.status === 403) {
    throw usage(
      'this paste is protected by a password',
      'give it with --password, --password-stdin or PASTE_PASSWORD_FILE',
    );
  }
  if (form === 'raw') {
    if (reply.status !== 200) throw refusal(server, reply, PASTE_HINTS);
    return deliver(terminal, reply.body, flags);
  }
  const paste = successfulJson(server, reply, PASTE_HINTS);
  const text = flags.json ? `${JSON.stringify(paste)}\n` : String(paste.content);
  return deliver(terminal, Buffer.from(text), flags);
}

function fetchPaste(
  server: string,
  pasteId: string,
  form: 'get' | 'raw',
  password: string | undefined,
): Promise<ApiReply> {
  if (form === 'raw') {
    const headers = password === undefined ? {} : { 'x-paste-password': encodeURIComponent(password) };
    return callApi(server, { method: 'GET', path: `/raw/${pasteId}`, headers }, PASTE_HINTS);
  }
  if (password === undefined)
    return callApi(server, { method: 'GET', path: `/api/pastes/${pasteId}` }, PASTE_HINTS);
  return callApi(
    server,
    { method: 'POST', path: `/api/pastes/${pasteId}/verify`, json: { password } },
    PASTE_HINTS,
  );
}

async function deliver(terminal: Terminal, bytes: Buffer, { output, yes = false }: ReadFlags): Promise<void> {
  if (output === undefined) {
    terminal.stdout.write(bytes);
    if (terminal.stdout.isTTY && bytes.at(-1) !== 0x0a) print(terminal, '');
    return;
  }
  try {
    await writeFile(output, bytes, { flag: yes ? 'w' : 'wx' });
  } catch (error) {
    // The paste may be burned by now: what was read must not be lost for want of a file.
    if (
      codeOf(error) === 'EEXIST' &&
      isInteractive(terminal) &&
      (await confirm(terminal, `Overwrite ${output}?`, '--yes'))
    ) {
      return writeFile(output, bytes);
    }
    terminal.stdout.write(bytes);
    const why = codeOf(error) === 'EEXIST' ? 'it exists already' : messageOf(error);
    throw usage(`${output} was not written (${why}); the paste went to stdout`, 'give --yes to overwrite');
  }
}
