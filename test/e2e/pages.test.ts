// The pages in a real browser, against a real server: what a person does with pastes.
import { readFile } from 'node:fs/promises';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { type PasteServer, startPasteServer } from '../support/paste-server.ts';
import { accessibilityViolations, startBrowser, type Visit, visit } from './browser.ts';

const chromium = inject('chromium');
const program = 'const answer: number = 42; // <b>&amp;</b>\nexport { answer };\n';

describe.skipIf(chromium === '')('the pages of the paste service', () => {
  let server: PasteServer;
  let browser: Browser;
  const visits: Visit[] = [];

  beforeAll(async () => {
    [server, browser] = await Promise.all([startPasteServer(), startBrowser(chromium)]);
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

  async function aPaste(
    fields: Record<string, unknown> = {},
  ): Promise<{ pasteId: string; deleteToken: string }> {
    const reply = await fetch(`${server.url}/api/pastes`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ content: program, language: 'typescript', expiresIn: '1w', ...fields }),
    });
    expect(reply.status).toBe(201);
    return reply.json();
  }

  const shownText = (page: Page) => page.locator('#content code').evaluate((code) => code.textContent);
  const statusOf = async (page: Page, path: string) => (await page.goto(path))?.status();

  describe('creating', () => {
    it('shows the address and the delete token in place, and the paste with its colours', async () => {
      const { page, complaints, foreignRequests } = await aVisitor();
      await page.goto('/');
      await page.fill('#text', program);
      await page.fill('#title', 'answer.ts');
      await page.selectOption('#language', 'typescript');
      await page.click('text=Create paste');
      await page.waitForSelector('h1:has-text("Your paste is ready")');
      expect(await page.inputValue('#created-token')).toMatch(/^dk_/);
      expect(await page.inputValue('#created-url')).toMatch(new RegExp(`^${server.url}/\\w{10}$`));

      await page.getByRole('link', { name: 'Open' }).click();
      await page.waitForSelector('h1:has-text("answer.ts")');
      expect(await shownText(page)).toBe(program);
      expect(await page.locator('.t-keyword').first().textContent()).toBe('const');
      const colours = await page.evaluate(() =>
        ['.t-keyword', '#content'].map((selector) => {
          const element = document.querySelector(selector);
          return element === null ? '' : getComputedStyle(element).color;
        }),
      );
      expect(colours[0]).not.toBe(colours[1]);
      expect(complaints).toEqual([]);
      expect(foreignRequests).toEqual([]);
    });

    it('needs no mouse', async () => {
      const { page } = await aVisitor();
      await page.goto('/');
      await page.waitForSelector('#text:focus');
      await page.keyboard.type('written without a mouse');
      await page.keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement?.id)).not.toBe('text');
      await page.keyboard.press('Control+Enter');
      await page.waitForSelector('[data-created]');
      expect(await page.evaluate(() => document.activeElement?.textContent?.trim())).toBe(
        'Your paste is ready',
      );
      while ((await page.evaluate(() => document.activeElement?.textContent?.trim())) !== 'Open') {
        await page.keyboard.press('Tab');
      }
      await page.keyboard.press('Enter');
      await page.waitForSelector('#content');
      expect(await shownText(page)).toBe('written without a mouse');
    });

    it('lets the Tab key indent once asked to, and Escape gives it back', async () => {
      const { page } = await aVisitor();
      await page.goto('/');
      await page.check('[data-tab-switch]');
      await page.focus('#text');
      await page.keyboard.press('Tab');
      expect(await page.inputValue('#text')).toBe('\t');
      await page.keyboard.press('Escape');
      await page.keyboard.press('Tab');
      expect(await page.evaluate(() => document.activeElement?.id)).not.toBe('text');
    });

    it('takes a file as it is, and its language and title from its name', async () => {
      const { page } = await aVisitor();
      await page.goto('/');
      const bytes = '\r\nfn main() {}\r\n';
      await page.setInputFiles('[data-file-input]', {
        name: 'main.rs',
        mimeType: 'text/plain',
        buffer: Buffer.from(bytes),
      });
      await page.waitForFunction(
        () => document.querySelector<HTMLSelectElement>('#language')?.value === 'rust',
      );
      expect(await page.inputValue('#title')).toBe('main.rs');
      await page.click('text=Create paste');
      await page.waitForSelector('[data-created]');
      const raw = await fetch((await page.inputValue('#created-url')).replace(/\/(\w+)$/, '/raw/$1'));
      expect(await raw.text()).toBe(bytes);
    });

    it('says beside the field what is wrong, and keeps the text', async () => {
      await aPaste({ customId: 'taken-one' });
      const { page } = await aVisitor();
      await page.goto('/');
      await page.fill('#text', 'mine');
      await page.fill('#custom-id', 'taken-one');
      await page.click('text=Create paste');
      await page.waitForSelector('#customId-error');
      expect(await page.getAttribute('#custom-id', 'aria-invalid')).toBe('true');
      expect(await page.inputValue('#text')).toBe('mine');
      expect(await page.evaluate(() => document.activeElement?.id)).toBe('custom-id');
    });

    it('counts bytes, and refuses more than a paste may have before sending it', async () => {
      const { page } = await aVisitor();
      await page.goto('/');
      await page.fill('#text', 'é');
      await page.waitForSelector('[data-counter]:has-text("2 bytes of 1 MiB")');
      await page.fill('#text', 'é'.repeat(524_289));
      await page.waitForSelector('.counter.over:has-text("2 bytes too many")');
      await page.click('text=Create paste');
      await page.waitForSelector('#content-error');
    });

    it('starts from another paste', async () => {
      const { pasteId } = await aPaste({ title: 'first', content: '\n first line is empty </textarea>' });
      const { page } = await aVisitor();
      await page.goto(`/${pasteId}`);
      await page.click('text=New from this');
      await page.waitForSelector('#text');
      expect(await page.inputValue('#text')).toBe('\n first line is empty </textarea>');
      expect(await page.inputValue('#language')).toBe('typescript');
    });

    it('remembers own pastes in this browser and deletes them', async () => {
      const { page } = await aVisitor();
      await page.goto('/');
      await page.fill('#text', 'x');
      await page.fill('#title', 'to be deleted');
      await page.click('text=Create paste');
      const url = await page.inputValue('#created-url');
      await page.goto('/');
      const own = page.locator('[data-own-pastes] li', { hasText: 'to be deleted' });
      await own.getByRole('button', { name: 'Delete' }).click();
      await own.getByRole('button', { name: 'Really delete' }).click();
      await own.waitFor({ state: 'detached' });
      expect(await statusOf(page, url)).toBe(404);
      expect(await page.textContent('h1')).toBe('There is nothing here');
    });
  });

  describe('reading', () => {
    it('copies exactly the content, without line numbers', async () => {
      const content = '\n\tone\r\n  two \u0001 <i>\n\n3';
      const { pasteId } = await aPaste({ content });
      const { page, context } = await aVisitor();
      await context.grantPermissions(['clipboard-read', 'clipboard-write'], { origin: server.url });
      await page.goto(`/${pasteId}`);
      await page.click('[data-copy-content]');
      await page.waitForSelector('[data-toast]:has-text("Copied")');
      expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(content);
      const selected = await page.evaluate(() => {
        const code = document.querySelector('#content code');
        if (code) getSelection()?.selectAllChildren(code);
        return String(getSelection());
      });
      expect(selected).toBe(content);
    });

    it('marks lines by fragment, click, Shift and number', async () => {
      const { pasteId } = await aPaste({ content: 'line\n'.repeat(200) });
      const { page } = await aVisitor();
      await page.goto(`/${pasteId}#L150-L152`);
      await page.waitForSelector('.line.marked');
      expect(await page.locator('.line.marked').count()).toBe(3);
      expect(await page.locator('#L150').evaluate((line) => line.getBoundingClientRect().top)).toBeLessThan(
        800,
      );
      await page.click('#L148');
      await page.click('#L153', { modifiers: ['Shift'] });
      expect(new URL(page.url()).hash).toBe('#L148-L153');
      expect(await page.locator('.line.marked').count()).toBe(6);
      await page.fill('#lines', '2');
      await page.click('text=Mark');
      expect(new URL(page.url()).hash).toBe('#L2');
      expect(await page.locator('.line.marked').count()).toBe(1);
    });

    it('shows more than 10,000 lines without a link for each, and still finds and marks them', async () => {
      const { pasteId } = await aPaste({ content: 'line\n'.repeat(10_001), language: 'plaintext' });
      const { page } = await aVisitor();
      await page.goto(`/${pasteId}?lines=9000`);
      expect(await page.textContent('.notice')).toContain('10,001 lines');
      expect(await page.locator('#content a').count()).toBe(0);
      const place = await page.locator('mark').boundingBox();
      expect(place?.y).toBeGreaterThan(0);
      expect(place?.y).toBeLessThan(800);
    });

    it('wraps long lines, and still does on the next page', async () => {
      const { pasteId } = await aPaste({ content: 'word '.repeat(900) });
      const { page } = await aVisitor();
      await page.goto(`/${pasteId}`);
      const scrolls = () => page.locator('#content').evaluate((code) => code.scrollWidth > code.clientWidth);
      expect(await scrolls()).toBe(true);
      await page.click('text=Wrap');
      expect(await scrolls()).toBe(false);
      await page.reload();
      expect(await scrolls()).toBe(false);
      expect(await page.getAttribute('[data-wrap-switch]', 'aria-pressed')).toBe('true');
    });

    it('follows the theme of the system, until another is chosen', async () => {
      const { page } = await aVisitor({ colorScheme: 'dark' });
      await page.goto('/');
      const lightness = () =>
        page.evaluate(() =>
          Number(/\d+/.exec(getComputedStyle(document.documentElement).backgroundColor)?.[0]),
        );
      expect(await lightness()).toBeLessThan(60);
      await page.click('[data-theme-switch]');
      expect(await lightness()).toBeGreaterThan(200);
      await page.reload();
      expect(await lightness()).toBeGreaterThan(200);
    });
  });

  describe('protected and burning pastes', () => {
    it('open with their password, and are saved from the page', async () => {
      const { pasteId } = await aPaste({ password: 'sesame' });
      const { page } = await aVisitor();
      await page.goto(`/${pasteId}`);
      await page.fill('#password', 'wrong');
      await page.click('text=Show the paste');
      await page.waitForSelector('#password-error');
      await page.fill('#password', 'sesame');
      await page.keyboard.press('Enter');
      await page.waitForSelector('#content');
      expect(await shownText(page)).toBe(program);
      expect(await page.locator('text=Raw').count()).toBe(0);
      const [download] = await Promise.all([page.waitForEvent('download'), page.click('text=Download')]);
      expect(await readFile(await download.path(), 'utf8')).toBe(program);
    });

    it('burn when they are opened, not when they are looked at', async () => {
      const { pasteId } = await aPaste({ burnAfterRead: true });
      const { page } = await aVisitor();
      await page.goto(`/${pasteId}`);
      await page.goto(`/${pasteId}`);
      expect(await page.textContent('h1')).toBe('This will be deleted when you open it');
      await page.click('text=Show and delete');
      await page.waitForSelector('#content');
      expect(await shownText(page)).toBe(program);
      expect(await page.textContent('.notice')).toContain('has just been deleted');
      expect(await statusOf(page, `/${pasteId}`)).toBe(404);
    });
  });

  describe('without JavaScript', () => {
    it('a paste is created, marked and deleted', async () => {
      const { page } = await aVisitor({ javaScriptEnabled: false });
      await page.goto('/');
      await page.fill('#text', '\none\ntwo\nthree');
      await page.fill('#custom-id', 'no-script');
      await page.click('text=Create paste');
      expect(await page.textContent('h1')).toContain('Your paste is ready');
      const token = await page.inputValue('#created-token');

      await page.goto('/no-script?lines=2-3');
      expect(await page.textContent('mark')).toBe('one\ntwo\n');
      expect(await (await fetch(`${server.url}/raw/no-script`)).text()).toBe('\none\ntwo\nthree');
      expect(await page.locator('[data-copy-content]').isVisible()).toBe(false);

      await page.click('text=Delete');
      await page.fill('#token', `${token}x`);
      await page.click('text=Delete for good');
      expect(await page.textContent('#token-error')).toBeTruthy();
      await page.fill('#token', token);
      await page.click('text=Delete for good');
      expect(await page.textContent('h1')).toBe('The paste is deleted');
      expect(await statusOf(page, '/no-script')).toBe(404);
    });

    it('a refused paste comes back filled in, with the messages beside the fields', async () => {
      await aPaste({ customId: 'taken-two' });
      const { page } = await aVisitor({ javaScriptEnabled: false });
      await page.goto('/');
      await page.fill('#text', '\n<textarea> & more');
      await page.fill('#title', 'kept');
      await page.fill('#custom-id', 'taken-two');
      await page.click('text=Create paste');
      expect(await page.inputValue('#text')).toBe('\n<textarea> & more');
      expect(await page.inputValue('#title')).toBe('kept');
      expect(await page.textContent('#customId-error')).toBeTruthy();
    });
  });

  describe.each([
    ['light', 1280],
    ['dark', 360],
  ] as const)('in %s colours, %i pixels wide', (colorScheme, width) => {
    it('no page has a violation that axe can find, a complaint, or a scrollbar at its foot', async () => {
      const { page, complaints } = await aVisitor({ colorScheme, viewport: { width, height: 780 } });
      const [plain, secret, burning] = await Promise.all([
        aPaste({ title: 'a title' }),
        aPaste({ password: 'sesame', burnAfterRead: true }),
        aPaste({ burnAfterRead: true, title: 't'.repeat(100) }),
      ]);
      const paths = [
        '/',
        `/${plain.pasteId}?lines=1`,
        `/${secret.pasteId}`,
        `/${burning.pasteId}`,
        `/${plain.pasteId}/delete`,
        '/stats',
      ];
      for (const path of paths) {
        await page.goto(path);
        expect(await accessibilityViolations(page), path).toEqual([]);
        const overflows = await page.evaluate(() => document.documentElement.scrollWidth > window.innerWidth);
        expect(overflows, path).toBe(false);
      }
      expect(complaints).toEqual([]);
    }, 30_000);
  });
});
