// What `svc link qr` does.
import { writeFile } from 'node:fs/promises';
import { extname } from 'node:path';
import type { Command } from 'commander';
import { codeOf, messageOf } from '../../platform/errors.ts';
import { callApi, refusal } from '../api-client.ts';
import { drawQr } from '../draw-qr.ts';
import { serverOf } from '../server-of.ts';
import { note, type Terminal } from '../terminal.ts';
import { usage } from '../usage.ts';
import { fetchLink } from './get.ts';
import { LINK_HINTS, LINK_SERVER, namedLink } from './link-address.ts';

type Format = 'text' | 'png' | 'svg';

interface QrFlags {
  format?: Format;
  output?: string;
}

/** Draws the short URL in characters, or fetches the server's picture of it: to stdout, or to a new file. */
export async function runQr(terminal: Terminal, command: Command, address: string): Promise<void> {
  const { format: asked, output } = command.optsWithGlobals<QrFlags>();
  const format = asked ?? formatOf(output);
  if (format === 'png' && output === undefined && terminal.stdout.isTTY) {
    throw usage('a terminal shows no PNG', 'name a file with -o, or send the output somewhere');
  }
  const drawn = format === 'text' ? await drawText(terminal, command, address) : await fetchPicture();
  if (output === undefined) {
    terminal.stdout.write(drawn);
    return;
  }
  try {
    await writeFile(output, drawn, { flag: 'wx' });
  } catch (error) {
    const reason = codeOf(error) === 'EEXIST' ? 'it is there already' : messageOf(error);
    throw usage(`${output} cannot be written: ${reason}`, 'name a new file');
  }
  note(terminal, `wrote ${output}`);

  async function fetchPicture(): Promise<Uint8Array> {
    const { shortCode, origin } = namedLink(address);
    const server = origin ?? (await serverOf(terminal, command, LINK_SERVER));
    const path = `/api/links/${shortCode}/qr?format=${format}`;
    const reply = await callApi(server, { method: 'GET', path }, LINK_HINTS);
    if (reply.status !== 200) throw refusal(server, reply, LINK_HINTS);
    return reply.body;
  }
}

async function drawText(terminal: Terminal, command: Command, address: string): Promise<string> {
  const { shortUrl } = await fetchLink(terminal, command, address, '');
  return `${(await drawQr(String(shortUrl))).trimEnd()}\n`;
}

function formatOf(output: string | undefined): Format {
  if (output === undefined) return 'text';
  const ending = extname(output).slice(1).toLowerCase();
  if (ending === 'png' || ending === 'svg') return ending;
  throw usage(
    `what ${output} is to be cannot be told from its name`,
    'name it .png or .svg, or say --format',
  );
}
