// A real headless Chromium for tests, and what every page is held to.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { AxeResults } from 'axe-core';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';

const axeSource = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** Starts Chromium without anything that would talk to the network by itself. */
export function startBrowser(executablePath: string): Promise<Browser> {
  return chromium.launch({
    executablePath,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
      '--disable-quic',
      // A page that a test puts in place counts as one from outside, and could not reach the server under test.
      '--disable-features=LocalNetworkAccessChecks',
    ],
  });
}

export interface Visit {
  context: BrowserContext;
  page: Page;
  /** What the page complained of: exceptions, console errors, refused resources. */
  complaints: string[];
  /** Requests to any other origin than the server's. */
  foreignRequests: string[];
}

/** A fresh visitor, whose clock stands where the server's does. */
export async function visit(
  browser: Browser,
  { origin, now, ...options }: BrowserContextOptions & { origin: string; now: number },
): Promise<Visit> {
  const context = await browser.newContext({
    baseURL: origin,
    viewport: { width: 1280, height: 800 },
    ...options,
  });
  if (options.javaScriptEnabled !== false) await context.clock.setFixedTime(now);
  const page = await context.newPage();
  const complaints: string[] = [];
  const foreignRequests: string[] = [];
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning')
      complaints.push(`${message.text()} ${message.location().url}`);
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(`${origin}/`) && !/^(blob|data):/.test(request.url()))
      foreignRequests.push(request.url());
  });
  return { context, page, complaints, foreignRequests };
}

/** What axe finds wrong with the page as it stands; empty when nothing. */
export async function accessibilityViolations(page: Page): Promise<string[]> {
  await page.evaluate(axeSource);
  const results: AxeResults = await page.evaluate('axe.run()');
  return results.violations.map(
    ({ id, nodes }) => `${id}: ${nodes.map(({ target }) => target.join(' ')).join(', ')}`,
  );
}
