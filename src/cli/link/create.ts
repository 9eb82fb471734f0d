// What `svc link <url>` does: sends each URL, prints the short one, remembers the delete token.
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { codeOf, Failure, messageOf } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import { type ApiReply, callApi, successfulJson } from '../api-client.ts';
import { copyToClipboard } from '../clipboard.ts';
import { drawQr } from '../draw-qr.ts';
import { type OwnLink, ownLinks } from '../own-links.ts';
import { type PasswordFlags, readPassword } from '../read-password.ts';
import { serverOf } from '../server-of.ts';
import {
  endProgress,
  isInteractive,
  note,
  print,
  printJson,
  showProgress,
  type Terminal,
} from '../terminal.ts';
import { usage } from '../usage.ts';
import { parseExpiry } from './expiry.ts';
import { LINK_HINTS, LINK_SERVER } from './link-address.ts';
import { type Line, readUrls } from './read-urls.ts';
import { refuseWords } from './refuse-words.ts';

interface CreateFlags extends PasswordFlags {
  code?: string;
  expires?: string;
  from?: string;
  skip?: number;
  copy?: boolean;
  qr?: boolean;
  json?: boolean;
  quiet?: boolean;
}

/** What all links of one command have in common. */
interface Creation {
  server: string;
  flags: CreateFlags;
  password: string | undefined;
  expiresAt: string | null;
}

// A server that is busy for longer than this is left to a later run.
const LONGEST_WAIT_SECONDS = 60;

/** Creates links: the URLs of the command line, or one a line from a file or a pipe. */
export async function runCreate(terminal: Terminal, command: Command, urls: string[]): Promise<void> {
  const flags = command.opts<CreateFlags>();
  const source = flags.from ?? (urls[0] === '-' || urls.length === 0 ? '-' : undefined);
  if (source === '-' && flags.from === undefined && terminal.stdin.isTTY) {
    command.outputHelp({ error: true });
    throw usage('there is nothing to shorten', 'name a URL, or pipe some in: svc link https://example.com');
  }
  if (flags.from !== undefined && urls.length > 0) {
    throw usage('URLs are given twice', 'give them on the command line or with --from');
  }
  if (urls.length > 1 && urls.includes('-')) {
    throw usage(
      '- takes URLs from stdin, and others are named',
      'give them on the command line or through stdin',
    );
  }
  if (source === undefined) refuseWords(command, urls);
  const password = await readPassword(terminal, flags, 'LINK_PASSWORD', source === '-');
  const expiresAt = flags.expires === undefined ? null : parseExpiry(flags.expires, Date.now());
  const lines =
    source === undefined
      ? urls.map((url, index): Line => ({ number: index + 1, url }))
      : await readUrls(terminal, source);
  const wanted = lines.filter(({ number }) => number > (flags.skip ?? 0));
  if (wanted.length === 0) throw usage('there is no URL in the input', 'one URL a line; # begins a remark');
  if (wanted.length > 1) refuseFlagsOfOne(flags);
  const server = await serverOf(terminal, command, LINK_SERVER);
  const creation = { server, flags, password, expiresAt };
  const [only] = wanted;
  if (wanted.length === 1 && only) await createAndShow(terminal, creation, only.url);
  else await createMany(terminal, creation, wanted);
}

function refuseFlagsOfOne({ code, qr, copy }: CreateFlags): void {
  const flag = code !== undefined ? '--code' : qr ? '--qr' : copy ? '--copy' : undefined;
  if (flag)
    throw usage(`${flag} is for one URL, and there are several`, `leave ${flag} out, or give one URL`);
}

async function createMany(terminal: Terminal, creation: Creation, lines: readonly Line[]): Promise<void> {
  let failed = 0;
  for (const [index, { number, url }] of lines.entries()) {
    // Whoever read the answers has gone: no more links that nobody knows of.
    if (terminal.stdout.destroyed) return;
    if (!creation.flags.quiet) showProgress(terminal, `${index} of ${lines.length}`);
    try {
      const created = await create(terminal, creation, url);
      endProgress(terminal);
      show(terminal, creation, created);
    } catch (error) {
      endProgress(terminal);
      const isOver =
        !(error instanceof Failure) || error.exit === EXIT.serverUnreachable || codeOf(error) === 'WAIT';
      if (isOver) throw stoppedAt(error, { number, left: lines.length - index });
      failed++;
      if (creation.flags.json)
        printJson(terminal, { line: number, url, code: error.code, message: error.message });
      else note(terminal, `svc: line ${number}: ${error.message}`);
    }
  }
  if (failed === 0) return;
  throw new Failure({
    code: failed === lines.length ? 'REFUSED' : 'DONE_IN_PART',
    message: `${failed} of ${lines.length} URLs were refused`,
    hint: 'see what was said of each line',
    exit: failed === lines.length ? EXIT.failed : EXIT.partial,
  });
}

function stoppedAt(error: unknown, { number, left }: { number: number; left: number }): Failure {
  return new Failure({
    code: codeOf(error) === 'WAIT' ? 'DONE_IN_PART' : (codeOf(error) ?? 'FAILED'),
    message: `stopped at line ${number} with ${left} left: ${messageOf(error)}`,
    hint: `run the same command again with --skip ${number - 1}`,
    exit: error instanceof Failure && error.exit === EXIT.serverUnreachable ? error.exit : EXIT.partial,
    cause: error,
  });
}

async function createAndShow(terminal: Terminal, creation: Creation, url: string): Promise<void> {
  const created = await create(terminal, creation, url);
  show(terminal, creation, created);
  const { flags } = creation;
  const shortUrl = String(created.shortUrl);
  if (!flags.quiet && isInteractive(terminal)) {
    const until = created.expiresAt === null ? 'never expires' : `expires ${String(created.expiresAt)}`;
    note(terminal, `${until}; svc link delete ${String(created.shortCode)} removes it`);
  }
  if (flags.qr) note(terminal, await drawQr(shortUrl));
  if (flags.copy && !(await copyToClipboard(terminal, shortUrl))) process.exitCode = EXIT.partial;
}

function show(terminal: Terminal, { flags }: Creation, created: Record<string, unknown>): void {
  if (flags.json) printJson(terminal, created);
  else print(terminal, String(created.shortUrl));
}

async function create(
  terminal: Terminal,
  { server, flags, password, expiresAt }: Creation,
  url: string,
): Promise<Record<string, unknown>> {
  const json = { url, customCode: flags.code, password, expiresAt };
  const send = () => callApi(server, { method: 'POST', path: '/api/links', json }, LINK_HINTS);
  let reply = await send();
  while (reply.status === 429) {
    await waitForSlot(terminal, reply, flags);
    reply = await send();
  }
  const created = successfulJson(server, reply, LINK_HINTS);
  remember(terminal, {
    shortCode: String(created.shortCode),
    url: String(created.shortUrl),
    server,
    originalUrl: url,
    deleteToken: String(created.deleteToken),
    createdAt: new Date().toISOString(),
    expiresAt: created.expiresAt === null ? null : String(created.expiresAt),
    hasPassword: password !== undefined,
  });
  return created;
}

async function waitForSlot(terminal: Terminal, reply: ApiReply, { quiet }: CreateFlags): Promise<void> {
  const seconds = secondsToWait(reply.headers['retry-after'], Date.now());
  if (seconds === undefined || seconds > LONGEST_WAIT_SECONDS) {
    const span = seconds === undefined ? 'a while' : `${seconds} seconds`;
    throw new Failure({
      code: 'WAIT',
      message: `the server takes no more links from here for ${span}`,
      hint: seconds === undefined ? 'try again later' : `try again in ${span}`,
      exit: EXIT.failed,
    });
  }
  if (!quiet) note(terminal, `svc: the server asks to wait ${seconds} s`);
  await pause(seconds * 1000);
}

/**
 * Seconds that a Retry-After header asks for: a number or a date (RFC 9110, section 10.2.3), at least 1, so that a
 * server that says 0 is not asked without a breath.
 */
export function secondsToWait(header: string | undefined, nowMs: number): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - nowMs) / 1000;
  return Number.isNaN(seconds) ? undefined : Math.max(1, Math.ceil(seconds));
}

function remember(terminal: Terminal, own: OwnLink): void {
  try {
    ownLinks.remember(terminal.env, own);
  } catch (error) {
    note(
      terminal,
      `svc: your own list cannot be written (${messageOf(error)}); the delete token is ${own.deleteToken}`,
    );
  }
}
