// The pages of the link service in a real browser: what a person does with links.
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { json } from '../support/api.ts';
import { createLink, follow, type LinkServer, startLinkServer } from '../support/link-server.ts';
import { accessibilityViolations, startBrowser, type Visit, visit } from './browser.ts';

const chromium = inject('chromium');

describe.skipIf(chromium === '')('the pages of the link service', () => {
  let server: LinkServer;
  let browser: Browser;
  const visits: Visit[] = [];

  beforeAll(async () => {
    [server, browser] = await Promise.all([startLinkServer(), startBrowser(chromium)]);
  });
  afterEach(async () => {
    for (const { context } of visits.splice(0)) await context.close();
  });
  afterAll(async () => {
    await browser?.close();
    await server?.close();
  });

  async function aVisitor(options: Partial<Parameters<typeof visit>[1]> = {}): Promise<Visit> {
    const visitor = await visit(browser, { origin: server.url, now: server.clock.now(), ...options });
    visits.push(visitor);
    return visitor;
  }

  it('make a link, show its address, QR code and delete token, and copy it', async () => {
    const { page, context, complaints, foreignRequests } = await aVisitor();
    await context.grantPermissions(['clipboard-read', 'clipboard-write']);
    await page.goto('/');
    await page.fill('[name=url]', 'https://example.com/some/where');
    await page.fill('[name=customCode]', 'from-browser');
    await page.selectOption('[name=expiresIn]', '1w');
    await page.getByRole('button', { name: /shorten|create/i }).click();
    await page.waitForSelector('h1:has-text("Your short link is ready")');
    expect(await page.inputValue('#created-url')).toBe(`${server.url}/from-browser`);
    expect(await page.inputValue('#created-token')).toMatch(/^dk_/);
    await page.locator('[data-copy-field=created-url]').click();
    expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(`${server.url}/from-browser`);
    const qr = await page.locator('.qr svg').boundingBox();
    expect(qr?.width).toBeGreaterThan(100);
    expect(await json(fetch(`${server.url}/api/links/from-browser`))).toMatchObject({
      originalUrl: 'https://example.com/some/where',
    });
    expect(complaints).toEqual([]);
    expect(foreignRequests).toEqual([]);
  });

  it('remember in this browser what it made, and delete it from there', async () => {
    const { page } = await aVisitor();
    await page.goto('/');
    await page.fill('[name=url]', 'https://example.com/');
    await page.fill('[name=customCode]', 'remembered');
    await page.getByRole('button', { name: /shorten|create/i }).click();
    await page.waitForSelector('h1:has-text("Your short link is ready")');
    await page.goto('/');
    await page.waitForSelector('text=remembered');
    expect((await fetch(`${server.url}/api/links/remembered`)).status).toBe(200);
  });

  it('need no mouse and no JavaScript', async () => {
    const { page } = await aVisitor({ javaScriptEnabled: false });
    await page.goto('/');
    await page.waitForSelector('[name=url]:focus');
    await page.keyboard.type('https://example.com/typed');
    await page.keyboard.press('Enter');
    await page.waitForSelector('h1:has-text("Your short link is ready")');
    const address = await page.inputValue('#created-url');
    expect(await json(fetch(address.replace(server.url, `${server.url}/api/links`)))).toMatchObject({
      originalUrl: 'https://example.com/typed',
    });
  });

  it('say beside the field what is wrong, and keep what was written', async () => {
    const { page } = await aVisitor({ javaScriptEnabled: false });
    await page.goto('/');
    await page.fill('[name=url]', 'http://192.168.0.1/');
    await page.keyboard.press('Enter');
    const field = page.locator('[name=url]');
    await page.waitForSelector('[name=url][aria-invalid=true]');
    expect(await field.inputValue()).toBe('http://192.168.0.1/');
    const describedBy = (await field.getAttribute('aria-describedby')) ?? '';
    expect(await page.locator(`#${describedBy.split(' ').at(-1)}`).textContent()).toContain('private');
  });

  it('ask for a password, refuse a wrong one, and lead on with the right one', async () => {
    const { shortCode } = await createLink(server, {
      password: 'open sesame',
      url: 'https://example.com/secret',
    });
    const { page } = await aVisitor();
    await page.goto(`/${shortCode}`);
    await page.fill('[name=password]', 'wrong');
    await page.keyboard.press('Enter');
    await page.waitForSelector('[role=alert]');
    // The destination is not on this machine: it is enough that the browser goes there.
    const left = page.waitForRequest('https://example.com/secret');
    await page.fill('[name=password]', 'open sesame');
    await page.keyboard.press('Enter');
    await left;
  });

  it('redirect a browser, and show in the charts where it came from', async () => {
    const { shortCode } = await createLink(server, { url: 'https://example.com/target' });
    for (let click = 0; click < 3; click++)
      await follow(server, shortCode, { referer: 'https://news.example/' });
    const { page } = await aVisitor();
    await page.goto(`/${shortCode}+`);
    expect(await page.textContent('.destination')).toBe('https://example.com/target');
    const left = page.waitForRequest('https://example.com/target');
    await page.getByRole('link', { name: /continue/i }).click();
    await left;
    await page.goto(`/${shortCode}/stats?days=7`);
    const text = await page.textContent('main');
    expect(text).toContain('news.example');
    expect(text).toContain('Firefox');
    expect(await page.locator('svg[role=img]').count()).toBeGreaterThanOrEqual(1);
    const bars = await page.locator('svg[role=img] rect').count();
    expect(bars).toBeGreaterThan(0);
  });

  it('are accessible and complain of nothing, in light and dark, wide and narrow', async () => {
    const { shortCode } = await createLink(server, {
      url: 'https://example.com/a/rather/long/path?with=query',
    });
    const locked = await createLink(server, { password: 'secret' });
    const expired = await createLink(server, {
      expiresAt: new Date(server.clock.now() + 1_000).toISOString(),
    });
    for (let click = 0; click < 5; click++)
      await follow(server, shortCode, { referer: `https://site${click}.example/` });
    server.clock.advance(1_000);
    const paths = [
      ['/', 200],
      [`/${locked.shortCode}`, 200],
      [`/${shortCode}+`, 200],
      [`/${expired.shortCode}`, 410],
      ['/unknown', 404],
      ['/stats', 200],
      [`/${shortCode}/stats`, 200],
      [`/${shortCode}/delete`, 200],
      ['/api/docs', 200],
    ] as const;
    // Of the same make as one above, so they are looked at in one colour scheme only.
    const variants = [
      ['/?url=https://example.com/prefilled', 200],
      [`/${locked.shortCode}+`, 200],
      [`/${shortCode}/stats?days=365`, 200],
    ] as const;
    for (const [colorScheme, width] of [
      ['light', 1280],
      ['dark', 390],
    ] as const) {
      const { page, complaints, foreignRequests } = await aVisitor({
        colorScheme,
        viewport: { width, height: 800 },
      });
      for (const [path, status] of colorScheme === 'light' ? [...paths, ...variants] : paths) {
        expect([path, (await page.goto(path))?.status()]).toEqual([path, status]);
        expect([path, await accessibilityViolations(page)]).toEqual([path, []]);
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        expect([path, width, overflow]).toEqual([path, width, Math.min(0, overflow)]);
      }
      // The browser itself remarks on pages that come with an error status.
      expect(complaints.filter((text) => !/status of 4(04|10)/.test(text))).toEqual([]);
      expect(foreignRequests).toEqual([]);
    }
  }, 60_000);
});
