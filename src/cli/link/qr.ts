// What `svc link qr` does.
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Command } from 'commander';
import { codeOf, messageOf } from '../../platform/errors.ts';
import { callApi, refusal } from '../api-client.ts';
import { drawQr } from '../draw-qr.ts';
import { serverOf } from '../server-of.ts';
import { note, print, type Terminal } from '../terminal.ts';
import { usage } from '../usage.ts';
import { fetchLink } from './get.ts';
import { LINK_HINTS, LINK_SERVER, namedLink } from './link-address.ts';

/** Draws the short URL in the terminal, or writes the server's picture of it to a new file. */
export async function runQr(terminal: Terminal, command: Command, address: string): Promise<void> {
  const { output } = command.optsWithGlobals<{ output?: string }>();
  if (output === undefined) {
    const { shortUrl } = await fetchLink(terminal, command, address, '');
    return print(terminal, (await drawQr(String(shortUrl))).trimEnd());
  }
  const format = extname(output).slice(1).toLowerCase();
  if (format !== 'png' && format !== 'svg') {
    throw usage(`${output} is neither a .png nor an .svg`, 'name the file qr.png or qr.svg');
  }
  const { shortCode, origin } = namedLink(address);
  const server = origin ?? (await serverOf(terminal, command, LINK_SERVER));
  const path = `/api/links/${shortCode}/qr?format=${format}`;
  const reply = await callApi(server, { method: 'GET', path }, LINK_HINTS);
  if (reply.status !== 200) throw refusal(server, reply, LINK_HINTS);
  try {
    await writeFile(output, reply.body, { flag: 'wx' });
  } catch (error) {
    const reason = codeOf(error) === 'EEXIST' ? 'it is there already' : messageOf(error);
    throw usage(`${output} cannot be written: ${reason}`, 'name a new file');
  }
  note(terminal, `wrote ${output}`);
}
