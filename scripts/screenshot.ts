// Takes the pictures of the README: starts the built command on an empty folder, makes a paste and a link, opens Chromium.
// Run by `node scripts/screenshot.ts`; CHROMIUM_PATH names another browser than /usr/bin/chromium.
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type Browser, chromium, type Page } from 'playwright-core';

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

/** A link that some browsers have followed from some places. */
async function createExampleLink(origin: string): Promise<string> {
  await fetch(`${origin}/api/links`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ url: 'https://www.rfc-editor.org/rfc/rfc9110.html', customCode: 'http' }),
  });
  const agents = [
    'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.0 Mobile/15E148 Safari/604.1',
  ];
  const places = ['https://news.example/', 'https://forum.example/', undefined];
  for (let click = 0; click < 60; click++) {
    const referer = places[click % 7 > 3 ? 0 : click % 3];
    await fetch(`${origin}/http`, {
      redirect: 'manual',
      headers: { 'user-agent': agents[click % 5 > 2 ? 1 : click % 3] ?? '', ...(referer && { referer }) },
    });
  }
  return '/http/stats?days=30';
}

async function take(
  browser: Browser,
  origin: string,
  path: string,
  colorScheme: 'light' | 'dark',
  name: string,
  open: (page: Page) => Promise<void> = async () => {},
) {
  const context = await browser.newContext({
    baseURL: origin,
    colorScheme,
    viewport: { width: 1200, height: 720 },
    deviceScaleFactor: 2,
  });
  const page = await context.newPage();
  await page.goto(path, { waitUntil: 'networkidle' });
  await open(page);
  await page.screenshot({ path: join(pictures, name) });
  await context.close();
}

const port = await freePort();
const linksPort = await freePort();
const opsPort = await freePort();
const origin = `http://127.0.0.1:${port}`;
const linksOrigin = `http://127.0.0.1:${linksPort}`;
const folder = mkdtempSync(join(tmpdir(), 'svc-screenshot-'));
const server = spawn(process.execPath, [join(repository, 'bin', 'svc.js'), 'serve'], {
  env: {
    PATH: process.env.PATH ?? '',
    SVC_DATA_DIR: join(folder, 'data'),
    PASTE_PORT: String(port),
    KANBAN_PORT: '0',
    RELAY_PORT: '0',
    LINKS_PORT: String(linksPort),
    LINKS_URL: 'https://sho.rt',
    OPS_PORT: String(opsPort),
    LOG_LEVEL: 'error',
  },
  stdio: 'inherit',
});
const ended = new Promise((resolve) => server.once('close', resolve));
try {
  mkdirSync(pictures, { recursive: true });
  await Promise.all([answers(origin), answers(linksOrigin)]);
  const path = await createExample(origin);
  const statistics = await createExampleLink(linksOrigin);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM_PATH ?? '/usr/bin/chromium',
    args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking'],
  });
  await take(browser, origin, '/', 'light', 'editor.png');
  await take(browser, origin, `${path}#L10-L13`, 'light', 'paste-light.png');
  await take(browser, origin, `${path}#L10-L13`, 'dark', 'paste-dark.png');
  await take(browser, linksOrigin, '/', 'light', 'link-created.png', async (page) => {
    await page.fill('[name=url]', 'https://www.rfc-editor.org/rfc/rfc9110.html#name-redirection-3xx');
    await page.fill('[name=customCode]', 'redirects');
    await page.keyboard.press('Enter');
    await page.waitForSelector('.created');
  });
  await take(browser, linksOrigin, statistics, 'dark', 'link-statistics.png');
  await browser.close();
} finally {
  server.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
}
