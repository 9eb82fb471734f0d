// Import and export: what is refused and why, an import that goes on where it stopped, and what comes back of an export.
import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ExportOptions, exportLinks } from '../../../src/services/links/bulk/export-links.ts';
import {
  type ImportOptions,
  importLinks,
  type ReportedRow,
} from '../../../src/services/links/bulk/import-links.ts';
import { readRows } from '../../../src/services/links/bulk/read-rows.ts';
import { createLink } from '../../../src/services/links/create-link.ts';
import { deleteLink } from '../../../src/services/links/delete-link.ts';
import { findLink } from '../../../src/services/links/find-link.ts';
import type { LinkService } from '../../../src/services/links/link-service.ts';
import { linkStatistics } from '../../../src/services/links/link-statistics.ts';
import { RESERVED_CODES } from '../../../src/services/links/reserved-codes.ts';
import { serviceStatistics } from '../../../src/services/links/service-statistics.ts';
import { unlockLink } from '../../../src/services/links/unlock-link.ts';
import { backends } from '../../support/databases.ts';
import { aClick, type LinkProcesses, makeLink, openLinkServices } from '../../support/link-service.ts';

const HEADER = 'shortCode,originalUrl,createdAt,expiresAt,clickCount\n';

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}

async function exported(service: LinkService, options: ExportOptions): Promise<string> {
  let text = '';
  for await (const page of exportLinks(service.platform, options)) text += page.text;
  return text;
}

const linesOf = (text: string) => text.split('\n').sort();

describe.each(backends())('import on $name', (backend) => {
  let processes: LinkProcesses;
  let service: LinkService;
  let reported: ReportedRow[] = [];
  beforeAll(async () => {
    processes = await openLinkServices(backend);
    [service] = processes.services as [LinkService];
  });
  afterAll(() => processes.close());

  const run = (text: string, options: Partial<ImportOptions> = {}, target = service) => {
    reported = [];
    return importLinks(target.platform, {
      rows: readRows(bytesOf(text)),
      fileHash: createHash('sha256').update(text).digest('hex'),
      reservedCodes: RESERVED_CODES,
      command: 'a test',
      onReport: (rows) => reported.push(...rows),
      ...options,
    });
  };
  const linksTo = async (prefix: string) =>
    (
      await service.platform.database
        .selectFrom('link')
        .select(['shortCode', 'originalUrl'])
        .where('originalUrl', 'like', `${prefix}%`)
        .orderBy('linkKey')
        .execute()
    ).map(({ shortCode, originalUrl }) => [shortCode, originalUrl]);
  const everything = async () => {
    const { database } = service.platform;
    return {
      links: await database.selectFrom('link').selectAll().orderBy('linkKey').execute(),
      days: await database.selectFrom('linkDayCount').selectAll().orderBy('day').execute(),
      clicks: await database.selectFrom('clickSummary').selectAll().orderBy('linkKey').execute(),
      imports: await database.selectFrom('linkImport').selectAll().orderBy('fileHash').execute(),
      leases: await database.selectFrom('lease').selectAll().execute(),
    };
  };

  test('keeps codes, times and clicks, and makes codes for rows without one', async () => {
    const result = await run(
      `${HEADER}imp-1,https://example.com/kept,2020-01-02T03:04:05Z,2030-01-01T00:00:00+02:00,17
,https://example.com/coded,,,
imp-3,https://example.com/over,2020-01-02 03:04:05,2021-01-01 00:00:00,\n`,
    );
    expect(result).toMatchObject({ rows: 3, imported: 3, unchanged: 0, refused: 0, complete: true });
    expect(await findLink(service, 'imp-1')).toMatchObject({
      originalUrl: 'https://example.com/kept',
      createdAt: new Date('2020-01-02T03:04:05Z'),
      expiresAt: new Date('2029-12-31T22:00:00Z'),
      clickCount: 17,
    });
    expect(await linksTo('https://example.com/coded')).toEqual([
      [expect.stringMatching(/^\w{7}$/), 'https://example.com/coded'],
    ]);
    expect(await findLink(service, 'imp-3')).toMatchObject({
      isExpired: true,
      createdAt: new Date('2020-01-02T03:04:05Z'),
    });
  });

  test('clicks that come later are added to those that a link brought along', async () => {
    await run(`${HEADER}clicked,https://example.com/,,,17\n`);
    const { linkKey } = await findLink(service, 'clicked');
    service.clicks.add(aClick(linkKey, processes.clock.now()));
    expect(await linkStatistics(service, 'clicked', 1)).toMatchObject({
      totalClicks: 18,
      timeline: [{ clicks: 1 }],
      browsers: [{ name: 'Firefox', count: 1 }],
    });
  });

  test('clicks that links brought along are among those of all links', async () => {
    const { platform } = service;
    const total = async () => {
      // Not the answer of five minutes ago.
      await platform.ephemeral.take('link-statistics');
      return (await serviceStatistics(service)).totalClicks;
    };
    const before = await total();
    await run(`${HEADER}total-1,https://example.com/,,,17\ntotal-2,https://example.com/,,,4\n`);
    expect(await total()).toBe(before + 21);
    await run(`${HEADER}total-3,https://example.com/,,,9\ntotal-1,https://example.com/,,,17\n`);
    expect(await total()).toBe(before + 30);
  });

  test('counts links by the day of their creation', async () => {
    await run(
      `${HEADER}day-1,https://example.com/,2001-02-03T23:59:59Z,,\nday-2,https://example.com/,2001-02-03T00:00:00Z,,\n`,
    );
    const { days } = await everything();
    expect(days).toContainEqual({ day: '2001-02-03', count: 2 });
  });

  test('names every refused row with its reason, and imports the others', async () => {
    await createLink(service, { url: 'https://example.com/taken', customCode: 'taken' });
    const result = await run(
      `${HEADER}ok-1,https://example.com/,,,
bad/code,https://example.com/,,,
a-code-of-more-than-twenty,https://example.com/,,,
stats,https://example.com/,,,
none,,,,
priv,http://0x7f.1/,,,
self,http://localhost/,,,
time,https://example.com/,2026-02-30T00:00:00Z,,
zero,https://example.com/,0000-00-00 00:00:00,,
zone,https://example.com/,,2030-01-01T00:00:00,
clicks,https://example.com/,,,-3
taken,https://example.com/other,,,
taken,https://example.com/taken,,,
ok-1,https://example.com/second,,,
ok-1,https://example.com/,,,
more,https://example.com/a,b,,,\n`,
    );
    expect(result).toMatchObject({ rows: 16, imported: 1, unchanged: 2, refused: 13 });
    const code = 'code must be 3 to 20 characters of a-z, A-Z, 0-9, _ and -';
    const time = 'is not a time such as 2027-01-31T12:00:00Z, or 2027-01-31 12:00:00 in UTC';
    expect(reported.map(({ row, shortCode, reason }) => `${row} ${shortCode}: ${reason}`)).toEqual([
      `3 bad/code: ${code}`,
      `4 a-code-of-more-than-twenty: ${code}`,
      '5 stats: code is a path of the site itself',
      '6 none: has no destination',
      '7 priv: destination must not lead to a private or reserved address',
      '8 self: destination must not lead to this service itself',
      `9 time: createdAt ${time}`,
      `10 zero: createdAt ${time}`,
      `11 zone: expiresAt ${time}`,
      '12 clicks: clicks are not a whole number',
      '13 taken: code leads elsewhere already',
      '15 ok-1: code leads elsewhere already',
      '17 more: has 6 columns, the header has 5',
    ]);
  });

  test('never opens to everybody what was closed', async () => {
    const result = await run(
      [
        { shortCode: 'locked', originalUrl: 'https://example.com/', hasPassword: true },
        {
          shortCode: 'hashed',
          originalUrl: 'https://example.com/',
          passwordHash: '5f4dcc3b5aa765d61d8327deb882cf99',
        },
        { shortCode: 'limited', longUrl: 'https://example.com/', meta: { maxVisits: 3, validUntil: null } },
        { shortCode: 'later', longUrl: 'https://example.com/', meta: { validSince: '2030-01-01T00:00:00Z' } },
        { address: 'kutt-1', target: 'https://example.com/', password: true, banned: false },
        { address: 'kutt-2', target: 'https://example.com/', password: '$2a$12$hash', banned: false },
        { address: 'kutt-3', target: 'https://example.com/', password: false, banned: true },
        { address: 'kutt-4', target: 'https://example.com/', expire_in: 'in a while' },
        {
          address: 'kutt-5',
          target: 'https://example.com/',
          password: false,
          banned: false,
          visit_count: 3,
          expire_in: '2030-01-01 00:00:00+02',
        },
        { shortCode: 'open', longUrl: 'https://example.com/', meta: { maxVisits: null, validSince: null } },
      ]
        .map((row) => JSON.stringify(row))
        .join('\n'),
    );
    expect(result).toMatchObject({ imported: 2, refused: 8 });
    expect(await findLink(service, 'kutt-5')).toMatchObject({
      clickCount: 3,
      expiresAt: new Date('2029-12-31T22:00:00Z'),
    });
    expect(reported.map(({ reason }) => reason)).toEqual([
      'has a password, which the file does not hold (export it with secrets)',
      'passwordHash is not an Argon2id hash',
      'has a limit of visits, which links here cannot have',
      'is not valid yet, which links here cannot be',
      'has a password, which the file does not hold (export it with secrets)',
      'has a password, which the file does not hold (export it with secrets)',
      'is banned',
      'expiresAt is not a time such as 2027-01-31T12:00:00Z, or 2027-01-31 12:00:00 in UTC',
    ]);
  });

  test('gives rows whose code leads elsewhere a new one when asked to, and says which', async () => {
    await createLink(service, { url: 'https://example.com/first', customCode: 'wanted' });
    const text = `${HEADER}wanted,https://rename.example/a,,,5\nwanted,https://rename.example/b,,,\nwanted,https://example.com/first,,,\n`;
    expect(await run(text, { onConflict: 'rename' })).toMatchObject({
      imported: 2,
      unchanged: 1,
      refused: 0,
    });
    const renamed = await linksTo('https://rename.example/');
    expect(renamed).toHaveLength(2);
    const code = renamed.find(([, url]) => url?.endsWith('/a'))?.[0] ?? '';
    expect(reported).toMatchObject([
      { row: 2, shortCode: 'wanted', reason: expect.stringContaining(code), isRefused: false },
      { row: 3, shortCode: 'wanted', isRefused: false },
    ]);
    expect((await findLink(service, code)).clickCount).toBe(5);
    expect((await findLink(service, 'wanted')).originalUrl).toBe('https://example.com/first');
  });

  describe('of a file that was interrupted', () => {
    const rows = Array.from({ length: 5_000 }, (_, index) => `,https://resume.example/${index},,,\n`);
    // One in a hundred is refused, so that counts of both kinds are carried on.
    const text = `${HEADER}${rows.map((row, index) => (index % 100 === 7 ? `x${row}` : row)).join('')}`;

    test('goes on where it was: nothing twice, nothing lost', async () => {
      const interrupt = new AbortController();
      const first = await run(text, { signal: interrupt.signal, onProgress: () => interrupt.abort() });
      expect(first).toMatchObject({ rows: 2_000, imported: 1_980, refused: 20, complete: false });
      expect(await run(text)).toMatchObject({
        earlier: { rows: 2_000, imported: 1_980, unchanged: 0, refused: 20 },
        rows: 3_000,
        imported: 2_970,
        refused: 30,
        complete: true,
      });
      const found = (await linksTo('https://resume.example/')).map(([, url]) => url);
      expect(found).toHaveLength(4_950);
      expect(new Set(found).size).toBe(4_950);
    });

    test('once it is done says so, and begins again only when told to', async () => {
      expect(await run(text)).toMatchObject({
        earlier: { rows: 5_000, imported: 4_950, refused: 50 },
        rows: 0,
        imported: 0,
        complete: true,
      });
      expect(await run(text, { restart: true, dryRun: true })).toMatchObject({
        earlier: { rows: 0 },
        rows: 5_000,
        imported: 4_950,
      });
    });
  });

  test('a batch that fails is not there in part, and is done by the next run', async () => {
    const text = `${HEADER}${Array.from({ length: 2_500 }, (_, index) => `,https://failed.example/${index},,,\n`).join('')},ftp://x,,,\n`;
    const failing = run(text, {
      onReport: (rows) => {
        if (rows.length > 0) throw new Error('the disk is full');
      },
    });
    await expect(failing).rejects.toThrow('the disk is full');
    expect(await linksTo('https://failed.example/')).toHaveLength(2_000);
    expect(await run(text)).toMatchObject({ earlier: { rows: 2_000 }, rows: 501, imported: 500, refused: 1 });
    expect(await linksTo('https://failed.example/')).toHaveLength(2_500);
  });

  test('of a file that is broken further on keeps what was before it', async () => {
    const good = Array.from(
      { length: 2_100 },
      (_, index) => `{"url":"https://broken.example/${index}"}\n`,
    ).join('');
    const text = `${good}{"url":"https://broken.example/cut`;
    expect(await run(text)).toMatchObject({ imported: 2_100, refused: 1 });
    expect(reported).toMatchObject([{ row: 2_101, reason: 'is not valid JSON' }]);
  });

  test('a dry run finds the same and writes nothing at all', async () => {
    await createLink(service, { url: 'https://example.com/', customCode: 'dry-there' });
    const text = `${HEADER}dry-1,https://example.com/,,,3
dry-1,https://example.com/other,,,
dry-1,https://example.com/,,,
dry-there,https://example.com/,,,
dry-2,ftp://example.com/,,,
,https://example.com/,,,\n`;
    const before = await everything();
    const planned = await run(text, { dryRun: true });
    const plannedReport = reported;
    expect(await everything()).toEqual(before);
    expect(planned).toMatchObject({ rows: 6, imported: 2, unchanged: 2, refused: 2 });
    expect(await run(text)).toEqual(planned);
    expect(reported).toEqual(plannedReport);
  });

  test('two at once are refused', async () => {
    const slow = async function* () {
      await expect(run(`${HEADER}x-1,https://example.com/,,,\n`)).rejects.toMatchObject({
        code: 'LEASE_HELD',
        exit: 11,
      });
      yield [{ row: 1, fields: { originalUrl: 'https://example.com/' } }];
    };
    expect(await run('', { rows: slow(), fileHash: 'slow' })).toMatchObject({ imported: 1 });
  });

  test.each(['csv', 'json'] as const)(
    'of our own export with secrets (%s) keeps passwords and delete tokens working',
    async (format) => {
      const locked = await createLink(service, {
        url: 'https://example.com/?q="locked",é',
        password: 'open sesame',
        expiresAt: new Date('2031-01-01T00:00:00.123Z'),
      });
      const open = await makeLink(service, 'https://example.com/=1+1;"x",y');
      await run(`${HEADER}counted-${format},https://example.com/,,,42\n`);
      const text = await exported(service, { format, withSecrets: true });

      const other = await openLinkServices(backend);
      const [target] = other.services as [LinkService];
      expect(await run(text, {}, target)).toMatchObject({ unchanged: 0, refused: 0 });
      const back = await exported(target, { format, withSecrets: true });
      // A batch is written in the order of its codes.
      const before = linesOf(text);
      expect(linesOf(back).filter((line, index) => line !== before[index])).toEqual([]);
      const { linkKey: _, clickedAt: __, ...visitor } = aClick(0, 0);
      const { shortCode } = locked;
      expect(await unlockLink(target, { shortCode, password: 'open sesame', visitor })).toBe(
        locked.originalUrl,
      );
      expect((await findLink(target, `counted-${format}`)).clickCount).toBe(42);
      await deleteLink(target, open.shortCode, open.deleteToken);
      await other.close();
    },
  );

  test('an export without secrets has none, and says which links had a password', async () => {
    const { shortCode } = await createLink(service, { url: 'https://example.com/', password: 'open sesame' });
    const text = await exported(service, { format: 'csv' });
    expect(text).not.toContain('$argon2id$');
    const lines = text.split('\n');
    expect(lines[0]).toBe('shortCode,originalUrl,createdAt,expiresAt,clickCount,hasPassword');
    expect(lines.find((line) => line.startsWith(`${shortCode},`))).toMatch(/,true$/);
  });

  test('an export goes over many pages without losing a link', async () => {
    const { links } = await everything();
    expect(links.length).toBeGreaterThan(2_000);
    const text = await exported(service, { format: 'json' });
    expect(
      text
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).shortCode),
    ).toEqual(links.map(({ shortCode }) => shortCode));
  });
});
