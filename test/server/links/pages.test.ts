// The pages of the link service as text: what they offer in each state, and that nothing a user wrote becomes markup.
import { describe, expect, it } from 'vitest';
import { createPage } from '../../../src/server/links/pages/create-page.ts';
import { createdPage } from '../../../src/server/links/pages/created-page.ts';
import { deletedPage, deletePage } from '../../../src/server/links/pages/delete-page.ts';
import { linkStatsPage } from '../../../src/server/links/pages/link-stats-page.ts';
import { errorPage, expiredPage, notFoundPage } from '../../../src/server/links/pages/message-page.ts';
import { previewPage } from '../../../src/server/links/pages/preview-page.ts';
import { statsPage } from '../../../src/server/links/pages/stats-page.ts';
import { unlockPage } from '../../../src/server/links/pages/unlock-page.ts';

const assets = (name: string) => `/assets/${name}?v=1`;
const now = new Date('2026-11-20T12:00:00.000Z');
const expiresAt = new Date('2026-11-27T12:00:00.000Z');
const shortCode = 'k3Vn8sQ';
const shortUrl = `https://go.example/${shortCode}`;
const originalUrl = 'https://example.com/a/page?q=1#part';
const hostile = `"><script>alert(1)</script>'&`;
const hostileUrl = `https://example.com/${hostile}`;

const created = {
  assets,
  shortUrl,
  shortCode,
  originalUrl,
  deleteToken: 'dk_secret',
  expiresAt,
  hasPassword: false,
  qrSvg: '<svg id="qr"></svg>',
  now,
};
const seen = {
  assets,
  shortUrl,
  shortCode,
  originalUrl,
  hasPassword: false,
  isExpired: false,
  createdAt: new Date('2026-11-18T12:00:00.000Z'),
  expiresAt,
  clickCount: 1_234,
  now,
};
const withheld = { ...seen, originalUrl: null };
const chrome = [{ name: 'Chrome', count: 6 }];
const counts = {
  assets,
  totalLinks: 12_345,
  totalClicks: 8,
  linksToday: 1,
  linksThisWeek: 20,
  topBrowsers: chrome,
  topOperatingSystems: [{ name: 'Linux', count: 8 }],
  topDevices: [],
};
const linkCounts = {
  assets,
  shortCode,
  shortUrl,
  totalClicks: 8,
  createdAt: seen.createdAt,
  expiresAt: null,
  days: 7,
  timeline: [
    { date: '2026-11-18', clicks: 1 },
    { date: '2026-11-19', clicks: 5 },
    { date: '2026-11-20', clicks: 0 },
  ],
  browsers: chrome,
  operatingSystems: [],
  devices: [],
  topReferrers: [{ host: 'news.example', count: 2 }],
  now,
};
const ofLink = { assets, shortCode };

const everyPage: Array<[string, string]> = [
  ['create', createPage({ assets })],
  ['created', createdPage(created)],
  ['unlock', unlockPage(ofLink)],
  ['preview', previewPage(seen)],
  ['preview of a protected link', previewPage({ ...withheld, hasPassword: true })],
  ['not found', notFoundPage({ assets })],
  ['expired', expiredPage({ assets })],
  ['error', errorPage({ assets, status: 429, title: 'Too many', message: 'Wait.' })],
  ['delete', deletePage(ofLink)],
  ['deleted', deletedPage(ofLink)],
  ['statistics', statsPage(counts)],
  ['statistics of a link', linkStatsPage(linkCounts)],
];

describe.each(everyPage)('the %s page', (_, html) => {
  it('is a whole document with a way around, one heading of the first rank, and a main part', () => {
    expect(html).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(html.trimEnd()).toMatch(/<\/html>$/);
    expect(html).toContain('href="#main"');
    expect(html).toContain(' · Links</title>');
    expect(html.match(/<main id="main"/g)).toHaveLength(1);
    expect(html.match(/<h1/g)).toHaveLength(1);
  });

  it('asks for nothing that its content security policy forbids', () => {
    expect(html).not.toMatch(/\sstyle=|<style|\son[a-z]+=|javascript:/i);
    expect(html).not.toMatch(/<script(?![^>]* src="\/assets\/)/);
    expect(html).not.toMatch(/src="https?:|<link[^>]* href="https?:/);
  });

  it('names no id twice', () => {
    const ids = [...html.matchAll(/\sid="([^"]+)"/g)].map(([, id]) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });
});

describe('what a user wrote', () => {
  const values = { url: hostileUrl, customCode: hostile, password: hostile, expiresIn: hostile };
  const rows = [{ name: hostile, count: 1 }];
  it.each([
    ['create', createPage({ assets, values, errors: { url: [hostile], form: [hostile] } })],
    [
      'created',
      createdPage({
        ...created,
        shortCode: hostile,
        shortUrl: hostile,
        originalUrl: hostileUrl,
        deleteToken: hostile,
      }),
    ],
    ['unlock', unlockPage({ assets, shortCode: hostile, error: hostile })],
    ['preview', previewPage({ ...seen, shortCode: hostile, shortUrl: hostile, originalUrl: hostileUrl })],
    ['preview of what is no URL', previewPage({ ...seen, originalUrl: hostile })],
    ['error', errorPage({ assets, status: 400, title: hostile, message: hostile })],
    ['delete', deletePage({ assets, shortCode: hostile, token: hostile, error: hostile })],
    ['deleted', deletedPage({ assets, shortCode: hostile })],
    ['statistics', statsPage({ ...counts, topBrowsers: rows, topOperatingSystems: rows, topDevices: rows })],
    [
      'statistics of a link',
      linkStatsPage({
        ...linkCounts,
        shortCode: hostile,
        shortUrl: hostile,
        browsers: rows,
        topReferrers: [{ host: hostile, count: 1 }],
      }),
    ],
  ])('stays text on the %s page', (_, html) => {
    expect(html).not.toContain('<script>alert');
    expect(html).not.toContain(`"'&`);
    expect(html).toContain('alert(1)');
  });
});

describe('the create page', () => {
  it('posts the fields that the server expects', () => {
    const html = createPage({ assets });
    expect(html).toMatch(/<form[^>]* method="post" action="\/">/);
    expect(html).toMatch(/<input id="url" name="url" type="url" required maxlength="2048"[^>]* autofocus/);
    expect(html).toMatch(/name="customCode" minlength="3" maxlength="20"/);
    expect(html).toMatch(/name="password" type="password" minlength="4" maxlength="100"/);
    const choices = [...html.matchAll(/<option value="([^"]*)"/g)].map(([, value]) => value);
    expect(choices).toEqual(['', '1h', '1d', '1w', '1mo', '1y']);
    expect(html).toContain('<option value="" selected>Never</option>');
  });

  it('shows given values and the messages beside their fields', () => {
    const html = createPage({
      assets,
      values: { url: 'http://10.0.0.1/', customCode: 'a', expiresIn: '1w' },
      errors: { url: ['Must be public.'], customCode: ['Too short.'] },
    });
    expect(html).toContain('value="http://10.0.0.1/"');
    expect(html).toContain('<option value="1w" selected>');
    expect(html).toMatch(/name="url"[^>]*aria-invalid="true" aria-describedby="url-error"/);
    expect(html).toContain('id="url-error" data-field-error>Must be public.');
    expect(html).toMatch(/name="customCode"[^>]*aria-invalid="true" aria-describedby="customCode-error"/);
    expect(html).toMatch(/role="alert" data-form-error >The link was not created/);
    expect(html).toContain('<title>Error: new link');
  });
});

describe('the created page', () => {
  it('gives the short URL, its QR code in both forms, and the delete token this once', () => {
    const html = createdPage(created);
    expect(html).toContain(`readonly value="${shortUrl}"`);
    expect(html).toContain('<svg id="qr"></svg>');
    expect(html).toContain(`href="/api/links/${shortCode}/qr"`);
    expect(html).toMatch(/href="\/api\/links\/k3Vn8sQ\/qr\?format(=|&#61;)svg"/);
    expect(html).toContain('readonly value="dk_secret"');
    expect(html).toContain('it cannot be shown again');
    for (const path of [`/${shortCode}+`, `/${shortCode}/stats`, `/${shortCode}/delete`]) {
      expect(html).toContain(`href="${path}"`);
    }
  });

  it('says how long the link lives and whether it asks for a password', () => {
    expect(createdPage({ ...created, expiresAt: null })).toContain('It never expires.');
    const html = createdPage({ ...created, hasPassword: true });
    expect(html).toContain('<time datetime="2026-11-27T12:00:00.000Z" title="2026-11-27 12:00 UTC">');
    expect(html).toContain('Visitors need the password.');
  });
});

describe('the preview page', () => {
  it('emphasises the host that decides where the link leads', () => {
    const html = previewPage({ ...seen, originalUrl: 'https://paypal.com.evil.example/login?x#y' });
    expect(html).toContain('https://<strong>paypal.com.evil.example</strong>/login?x#y</a>');
    expect(html).toContain('<span>Continue to paypal.com.evil.example</span>');
  });

  it('shows the host as a browser understands it', () => {
    expect(previewPage({ ...seen, originalUrl: 'https://еxample.com' })).toContain(
      '<strong>xn--xample-2of.com</strong></a>',
    );
  });

  it('tells the destination nothing of where the visitor came from', () => {
    expect(previewPage(seen)).toMatch(
      /<a class="destination" href="https:\/\/example\.com\/a\/page[^"]*" rel="noopener noreferrer nofollow">/,
    );
  });

  it('tells age, end and clicks, and leads on through the short link', () => {
    const html = previewPage(seen);
    expect(html).toContain('2 days ago');
    expect(html).toContain('next week');
    expect(html).toContain('1,234 times');
    expect(html).toContain(`continue" href="/${shortCode}" rel=`);
    expect(html).toContain(`href="/${shortCode}/stats"`);
  });

  it('leads a protected link to its password, and nowhere else', () => {
    const html = previewPage({ ...withheld, hasPassword: true });
    expect(html).not.toContain('class="destination"');
    expect(html).toContain('Enter the password');
  });

  it('leads an expired link nowhere', () => {
    const html = previewPage({ ...withheld, isExpired: true });
    expect(html).toContain('has expired');
    expect(html).not.toContain(`href="/${shortCode}"`);
  });

  it('links no destination that is not of the web', () => {
    expect(previewPage({ ...seen, originalUrl: 'javascript:alert(1)' })).not.toContain('href="javascript');
  });
});

describe('the gates', () => {
  it('post the forms that the server expects', () => {
    expect(unlockPage(ofLink)).toMatch(
      /<form method="post" action="\/k3Vn8sQ"[^>]*>.*name="password" type="password" required/s,
    );
    expect(deletePage(ofLink)).toMatch(/<form method="post" action="\/k3Vn8sQ\/delete"[^>]*>.*name="token"/s);
  });

  it('say what was wrong, beside the field', () => {
    expect(unlockPage({ ...ofLink, error: 'Wrong.' })).toMatch(
      /aria-invalid="true" aria-describedby="password-error".*id="password-error" role="alert">Wrong\./s,
    );
    expect(deletePage({ ...ofLink, token: 'dk_x', error: 'Wrong.' })).toMatch(
      /value="dk_x" aria-invalid="true" aria-describedby="token-error".*role="alert">Wrong\./s,
    );
  });
});

describe('the messages', () => {
  it('tell a link that is over from one that never was', () => {
    expect(notFoundPage({ assets })).toContain('<p class="status-code">404</p>');
    expect(expiredPage({ assets })).toContain('<p class="status-code">410</p>');
  });
});

describe('the statistics of all links', () => {
  it('show totals, and shares of all clicks', () => {
    const html = statsPage(counts);
    expect(html).toContain('12,345');
    expect(html).toMatch(/Chrome.*<td class="count">6<\/td><td class="share">75 %/);
    expect(html).toContain('aria-current="page">Statistics');
  });
});

describe('the statistics of a link', () => {
  it('sum the range and name its busiest day', () => {
    const html = linkStatsPage(linkCounts);
    expect(html).toMatch(
      /In this range<\/dt><dd><span class="value">6<\/span> <span class="hint">last 7 days/,
    );
    expect(html).toMatch(/Busiest day<\/dt><dd><span class="value">5<\/span> <span class="hint">19 Nov/);
    expect(html).toMatch(/Today<\/dt><dd><span class="value">0/);
  });

  it('switch between ranges, and mark the one that is shown', () => {
    const html = linkStatsPage(linkCounts);
    const ranges = [...html.matchAll(/\/k3Vn8sQ\/stats\?days(?:=|&#61;)(\d+)"( aria-current="true")?/g)];
    expect(ranges.map(([, days, current]) => [days, current !== undefined])).toEqual([
      ['7', true],
      ['30', false],
      ['90', false],
      ['365', false],
    ]);
  });

  it('stand without any click', () => {
    const html = linkStatsPage({
      ...linkCounts,
      totalClicks: 0,
      timeline: [],
      browsers: [],
      topReferrers: [],
    });
    expect(html).toContain('No clicks yet.');
    expect(html).not.toContain('class="bar-cards"');
  });

  it('tell no clicks in the range from no clicks at all', () => {
    const timeline = [{ date: '2026-11-20', clicks: 0 }];
    expect(linkStatsPage({ ...linkCounts, timeline })).toContain('No clicks in this range.');
  });

  it('say that an expired link is over', () => {
    expect(linkStatsPage({ ...linkCounts, expiresAt: seen.createdAt })).toMatch(/<li>Expired <time/);
    expect(linkStatsPage(linkCounts)).toContain('<li>Never expires</li>');
  });
});
