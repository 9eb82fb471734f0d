// Takes the pictures of the README: starts the built command on an empty folder, makes a paste, opens Chromium.
// Run by `node scripts/screenshot.ts`; CHROMIUM_PATH names another browser than /usr/bin/chromium.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium } from 'playwright-core';

const START_DEADLINE_MS = 30_000;
const repository = fileURLToPath(new URL('..', import.meta.url));
const pictures = join(repository, 'docs', 'images');
const example = join(repository, 'src', 'services', 'paste', 'highlight', 'mark-lines.ts');

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no free port was found');
  return address.port;
}

async function answers(origin: string): Promise<void> {
  const deadline = Date.now() + START_DEADLINE_MS;
  while (Date.now() < deadline) {
    const reply = await fetch(`${origin}/api/health`).catch(() => undefined);
    if (reply?.ok) return;
    await delay(100);
  }
  throw new Error(
    `svc serve did not answer at ${origin} within ${START_DEADLINE_MS} ms; run it by hand to see why`,
  );
}

async function createExample(origin: string): Promise<string> {
  const reply = await fetch(`${origin}/api/pastes`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({
      title: 'mark-lines.ts',
      content: readFileSync(example, 'utf8'),
      language: 'typescript',
      expiresIn: '1w',
      customId: 'example',
    }),
  });
  if (reply.status !== 201)
    throw new Error(`creating the example failed with ${reply.status}: ${await reply.text()}`);
  return '/example';
}

async function take(
  browser: Browser,
  origin: string,
  path: string,
  colorScheme: 'light' | 'dark',
  name: string,
) {
  const context = await browser.newContext({
    baseURL: origin,
    colorScheme,
    viewport: { width: 1200, height: 720 },
    deviceScaleFactor: 2,
  });
  const page = await context.newPage();
  await page.goto(path, { waitUntil: 'networkidle' });
  await page.screenshot({ path: join(pictures, name) });
  await context.close();
}

const port = await freePort();
const opsPort = await freePort();
const origin = `http://127.0.0.1:${port}`;
const folder = mkdtempSync(join(tmpdir(), 'svc-screenshot-'));
const server = spawn(process.execPath, [join(repository, 'bin', 'svc.js'), 'serve'], {
  env: {
    PATH: process.env.PATH ?? '',
    SVC_DATA_DIR: join(folder, 'data'),
    PASTE_PORT: String(port),
    OPS_PORT: String(opsPort),
    LOG_LEVEL: 'error',
  },
  stdio: 'inherit',
});
const ended = new Promise((resolve) => server.once('close', resolve));
try {
  mkdirSync(pictures, { recursive: true });
  await answers(origin);
  const path = await createExample(origin);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  });
  await take(browser, origin, '/', 'light', 'editor.png');
  await take(browser, origin, `${path}#L10-L13`, 'light', 'paste-light.png');
  await take(browser, origin, `${path}#L10-L13`, 'dark', 'paste-dark.png');
  await browser.close();
} finally {
  server.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
}
