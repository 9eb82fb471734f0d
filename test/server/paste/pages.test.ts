// The pages as text: what they offer in each state, and that nothing a user wrote becomes markup.
import { describe, expect, it } from 'vitest';
import {
  formatBytes,
  formatInstant,
  formatQuantity,
  formatRelative,
} from '../../../src/server/pages/format.ts';
import { createPage } from '../../../src/server/paste/pages/create-page.ts';
import { createdPage } from '../../../src/server/paste/pages/created-page.ts';
import { deletedPage, deletePage } from '../../../src/server/paste/pages/delete-page.ts';
import { burnPage, passwordPage } from '../../../src/server/paste/pages/gate-pages.ts';
import { errorPage, notFoundPage } from '../../../src/server/paste/pages/message-page.ts';
import { statsPage } from '../../../src/server/paste/pages/stats-page.ts';
import { type ViewPageData, viewPage } from '../../../src/server/paste/pages/view-page.ts';
import { languages } from '../../../src/services/paste/languages.ts';

const assets = (name: string) => `/assets/${name}?v=1`;
const now = new Date('2026-11-20T12:00:00.000Z');
const expiresAt = new Date('2026-11-27T12:00:00.000Z');
const hostile = `"><script>alert(1)</script>'&`;

function view(changes: Partial<ViewPageData> = {}): string {
  const { head, tail } = viewPage({
    assets,
    pasteId: 'k3Vn8sQwxZ',
    title: 'notes',
    language: 'typescript',
    languageName: 'TypeScript',
    createdAt: now,
    expiresAt,
    viewCount: 3,
    sizeBytes: 2048,
    burnAfterRead: false,
    hasPassword: false,
    lineCount: 10,
    layout: 'anchored',
    now,
    ...changes,
  });
  return `${head}[content]${tail}`;
}

function create(data: Partial<Parameters<typeof createPage>[0]> = {}): string {
  const { head, tail } = createPage({ assets, ...data });
  return `${head}[content]${tail}`;
}

const created = {
  assets,
  pasteId: 'k3Vn8sQwxZ',
  url: 'https://paste.example/k3Vn8sQwxZ',
  rawUrl: 'https://paste.example/raw/k3Vn8sQwxZ',
  deleteToken: 'dk_secret',
  expiresAt,
  hasPassword: false,
  burnAfterRead: false,
  now,
};

const gate = { assets, pasteId: 'k3Vn8sQwxZ', burnAfterRead: false };
const burn = { ...gate, title: 'keys', sizeBytes: 1, createdAt: now, expiresAt, now };
const stats = { assets, totalPastes: 12_345, pastesToday: 1, pastesThisWeek: 20 };

const everyPage: Array<[string, string]> = [
  ['create', create()],
  ['created', createdPage(created)],
  ['view', view()],
  ['password', passwordPage(gate)],
  ['burn', burnPage(burn)],
  ['delete', deletePage(gate)],
  ['deleted', deletedPage(gate)],
  ['not found', notFoundPage({ assets })],
  ['error', errorPage({ assets, status: 429, title: 'Too many', hint: 'Wait.' })],
  ['statistics', statsPage({ ...stats, topLanguages: [{ language: 'go', languageName: 'Go', count: 3 }] })],
];

describe.each(everyPage)('the %s page', (_, html) => {
  it('is a whole document with a way around, one heading of the first rank, and a main part', () => {
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(html.trimEnd()).toMatch(/<\/html>$/);
    expect(html).toContain('href="#main"');
    expect(html.match(/<main id="main"/g)).toHaveLength(1);
    expect(html.replace(/<template.*<\/template>/s, '').match(/<h1/g)).toHaveLength(1);
  });

  it('asks for nothing that its content security policy forbids', () => {
    expect(html).not.toMatch(/\sstyle=|<style|\son[a-z]+=|javascript:/i);
    expect(html).not.toMatch(/<script(?![^>]* src="\/assets\/)/);
    expect(html).not.toMatch(/(src|href)="https?:\/\/(?!paste\.example)/);
  });

  it('names no id twice', () => {
    const ids = [...html.replace(/<template.*<\/template>/s, '').matchAll(/\sid="([^"]+)"/g)].map(
      ([, id]) => id,
    );
    expect(ids).toEqual([...new Set(ids)]);
  });
});

describe('what a user wrote', () => {
  const values = {
    title: hostile,
    customId: hostile,
    password: hostile,
    language: hostile,
    expiresIn: hostile,
  };
  it.each([
    ['create', create({ values, errors: { title: [hostile], form: [hostile] } })],
    [
      'created',
      createdPage({ ...created, pasteId: hostile, url: hostile, deleteToken: hostile, title: hostile }),
    ],
    [
      'view',
      view({ title: hostile, pasteId: hostile, languageName: hostile, language: hostile, lines: hostile }),
    ],
    ['password', passwordPage({ ...gate, pasteId: hostile, error: hostile })],
    ['burn', burnPage({ ...burn, title: hostile })],
    ['delete', deletePage({ ...gate, token: hostile, error: hostile })],
    ['deleted', deletedPage({ ...gate, pasteId: hostile })],
    ['error', errorPage({ assets, status: 400, title: hostile, hint: hostile })],
  ])('stays text on the %s page', (_, html) => {
    expect(html.includes('<script>alert')).toBe(false);
    expect(html.includes('"&#62;')).toBe(false);
    expect(html.includes('alert(1)')).toBe(true);
  });
});

describe('the create page', () => {
  it('offers every language once, and plain text at first', () => {
    const html = create();
    for (const { id } of languages()) {
      expect(html.split(`<option value="${id}" data-files`), id).toHaveLength(2);
    }
    expect(html).toMatch(/<option value="plaintext"[^>]* selected>/);
    expect(html).toMatch(/<option value="1w" selected>/);
  });

  it('leaves the line feed after <textarea> for the parser to drop', () => {
    expect(create()).toMatch(/<textarea[^>]*>\n\[content\]<\/textarea>/);
  });

  it('shows given values and the messages beside their fields', () => {
    const html = create({
      values: { title: 'mine', language: 'go', expiresIn: '1h', burnAfterRead: true, customId: 'a' },
      errors: { customId: ['Too short.'], content: ['Must not be empty.'] },
    });
    expect(html).toContain('value="mine"');
    expect(html).toMatch(/<option value="go"[^>]* selected>/);
    expect(html).toMatch(/<option value="1h" selected>/);
    expect(html).toMatch(/name="burnAfterRead" value="true" checked/);
    expect(html).toMatch(/name="customId"[^>]*aria-invalid="true" aria-describedby="customId-error"/);
    expect(html).toContain('id="customId-error" data-field-error>Too short.');
    expect(html).toContain('id="content-error" data-field-error>Must not be empty.');
    expect(html).toContain('<title>Error: new paste');
  });
});

describe('the view page', () => {
  it('links raw, download, a new paste from this one, and deletion', () => {
    const html = view();
    expect(html).toContain('href="/raw/k3Vn8sQwxZ"');
    expect(html).toContain('href="/raw/k3Vn8sQwxZ?download=1"');
    expect(html).toContain('href="/?from=k3Vn8sQwxZ"');
    expect(html).toContain('href="/k3Vn8sQwxZ/delete"');
    expect(html).toContain('3 views');
    expect(html).toContain('2 KiB');
    expect(html).toContain(
      '<time datetime="2026-11-27T12:00:00.000Z" title="2026-11-27 12:00 UTC">next week</time>',
    );
  });

  it('links nothing that would ask for the password again', () => {
    const html = view({ hasPassword: true });
    expect(html).not.toMatch(/href="\/raw\/|href="\/\?from/);
    expect(html).toContain('data-download-content');
    expect(html).toMatch(/data-lines-form data-in-place hidden/);
    expect(html).toContain('href="/k3Vn8sQwxZ/delete"');
  });

  it('says of a burned paste that it is gone, and links nothing of it', () => {
    const html = view({ burnAfterRead: true });
    expect(html).toContain('has just been deleted');
    expect(html).not.toMatch(/href="\/(raw\/|\?from|k3Vn8sQwxZ)/);
  });

  it('says why there are no colours, and why lines have no links', () => {
    expect(view({ plain: 'too-slow' })).toContain('Shown without colours: highlighting it took too long.');
    expect(view({ plain: 'plain-text' })).not.toContain('Shown without colours');
    expect(view({ layout: 'compact', lineCount: 12_000 })).toContain(
      '12,000 lines: shown without a link for each line.',
    );
  });

  it('calls a paste without a title untitled', () => {
    expect(view({ title: null })).toContain('<h1>Untitled paste</h1>');
  });
});

describe('the pages before and after a paste', () => {
  it('post the forms that the server expects', () => {
    expect(passwordPage(gate)).toMatch(/<form method="post" action="\/k3Vn8sQwxZ"[^>]*>.*name="password"/s);
    expect(burnPage(burn)).toMatch(
      /<form method="post" action="\/k3Vn8sQwxZ"[^>]*>\s*<input type="hidden" name="open" value="yes">/,
    );
    expect(deletePage(gate)).toMatch(
      /<form method="post" action="\/k3Vn8sQwxZ\/delete"[^>]*>.*name="token"/s,
    );
  });

  it('warn before a password burns the paste', () => {
    expect(passwordPage(gate)).not.toContain('It can be read once');
    expect(passwordPage({ ...gate, burnAfterRead: true })).toContain('It can be read once');
  });

  it('say that a password was wrong, beside its field', () => {
    const html = passwordPage({ ...gate, error: 'The password is wrong.' });
    expect(html).toMatch(/aria-invalid="true" aria-describedby="password-error"/);
    expect(html).toMatch(/id="password-error" role="alert">The password is wrong\./);
  });

  it('give address, raw address and the delete token after creation', () => {
    const html = createdPage({ ...created, qrSvg: '<svg id="qr"></svg>' });
    expect(html).toContain('value="https://paste.example/k3Vn8sQwxZ"');
    expect(html).toContain('href="https://paste.example/raw/k3Vn8sQwxZ" >');
    expect(html).toContain('name="token" data-field="token" value="dk_secret"');
    expect(html).toContain('<svg id="qr"></svg>');
  });

  it('do not lead the creator of a burning paste into burning it', () => {
    const html = createdPage({ ...created, burnAfterRead: true });
    expect(html).toMatch(/data-field="open" href="[^"]*" hidden>/);
    expect(html).toMatch(/data-field="raw" href="[^"]*" hidden>/);
    expect(html).toMatch(/data-when="burn" > The first reader burns it/);
  });
});

describe('the statistics page', () => {
  it('draws bars in proportion to the largest', () => {
    const html = statsPage({
      ...stats,
      topLanguages: [
        { language: 'go', languageName: 'Go', count: 200 },
        { language: 'rust', languageName: 'Rust', count: 50 },
      ],
    });
    expect(html).toContain('<rect width="100.0" height="10"/>');
    expect(html).toContain('<rect width="25.0" height="10"/>');
    expect(html).toContain('12,345');
  });

  it('stands without any paste', () => {
    expect(statsPage({ ...stats, topLanguages: [] })).toContain('Nothing has been pasted yet.');
  });
});

describe('figures', () => {
  it.each([
    [1, '1 byte'],
    [1023, '1,023 bytes'],
    [1024, '1 KiB'],
    [1536, '1.5 KiB'],
    [1_048_575, '1 MiB'],
    [1_048_576, '1 MiB'],
  ])('of %i bytes read %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });

  it.each([
    [0, 'now'],
    [59, 'in 59 seconds'],
    [-60, '1 minute ago'],
    [86_400, 'tomorrow'],
    [6 * 86_400, 'in 6 days'],
    [365 * 86_400, 'next year'],
  ])('of %i seconds from now read %s', (seconds, text) => {
    expect(formatRelative(new Date(now.getTime() + seconds * 1000), now)).toBe(text);
  });

  it('have plurals and instants', () => {
    expect(formatQuantity(1, 'line')).toBe('1 line');
    expect(formatQuantity(1_200, 'line')).toBe('1,200 lines');
    expect(formatInstant(now)).toBe('2026-11-20 12:00 UTC');
  });
});
