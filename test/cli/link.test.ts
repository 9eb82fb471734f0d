// `svc link` as a shell runs it, against a real server.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { secondsToWait } from '../../src/cli/link/create.ts';
import { drawStatistics } from '../../src/cli/link/draw-statistics.ts';
import { parseExpiry } from '../../src/cli/link/expiry.ts';
import { json } from '../support/api.ts';
import { createLink, follow, type LinkServer, startLinkServer } from '../support/link-server.ts';
import { type RunOptions, runSvc } from '../support/run-svc.ts';

let server: LinkServer;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  server = await startLinkServer();
  // The terminal's list goes by the real time.
  server.clock.advance(Date.now() - server.clock.now());
  folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  env = { LINKS_URL: server.url, XDG_STATE_HOME: folder };
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const link = (args: string[], options: RunOptions = {}) =>
  runSvc(['link', ...args], { ...options, env: { ...env, ...options.env } });
const metadata = (shortCode: string) => json(fetch(`${server.url}/api/links/${shortCode}`));
const file = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

describe('creating', () => {
  test('prints the short URL and nothing else, and so does shorten', async () => {
    for (const command of ['link', 'shorten']) {
      const { stdout, stderr, code } = await runSvc([command, 'https://example.com/a'], { env });
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toMatch(new RegExp(`^${server.url}/\\w{7}\n$`));
    }
  });

  test('flags say the code, the expiry and the password', async () => {
    const { stdout } = await link(['https://example.com/b', '--code', 'from-shell', '--expires', '7d'], {
      env: { LINK_PASSWORD: 'secret' },
    });
    expect(stdout).toBe(`${server.url}/from-shell\n`);
    const { expiresAt, ...rest } = await metadata('from-shell');
    expect(rest).toMatchObject({ hasPassword: true });
    expect(Math.abs(Date.parse(String(expiresAt)) - Date.now() - 7 * 86_400_000)).toBeLessThan(60_000);
  });

  test('--json prints the reply of the API, --qr draws on stderr', async () => {
    const { stdout, stderr } = await link(['https://example.com/c', '--json', '--qr']);
    expect(JSON.parse(stdout)).toMatchObject({ deleteToken: expect.stringMatching(/^dk_/) });
    expect(stderr).toContain('█');
  });

  test('many URLs from a file or a pipe: one answer a line, in order; remarks and blank lines skipped', async () => {
    const urls = [
      'https://example.com/1',
      '',
      '# two',
      'https://example.com/2',
      'https://example.com/3',
    ].join('\n');
    for (const run of [
      await link(['--from', file('urls.txt', urls)]),
      await link([], { input: urls }),
      await link(['-'], { input: urls }),
    ]) {
      expect(run).toMatchObject({ code: 0, stderr: '' });
      const codes = run.stdout
        .trim()
        .split('\n')
        .map((line) => new URL(line).pathname.slice(1));
      const destinations = await Promise.all(codes.map(async (code) => (await metadata(code)).originalUrl));
      expect(destinations).toEqual([1, 2, 3].map((number) => `https://example.com/${number}`));
    }
  });

  test('a line that is refused is named, the others are made, and the exit status is 3', async () => {
    const input = 'https://example.com/1\nhttp://10.0.0.1/\nhttps://example.com/2\n';
    const { code, stdout, stderr } = await link([], { input });
    expect(code).toBe(3);
    expect(stdout.trim().split('\n')).toHaveLength(2);
    expect(stderr).toContain('line 2: ');
    expect(stderr).toContain('private or reserved');
    const skipped = await link(['--skip', '2'], { input });
    expect(skipped).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\S+\n$/) });
    // What a run that was stopped at its first line is told to say.
    expect((await link(['--skip', '0'], { input })).code).toBe(3);
  });

  test('a limit that is hit says how to go on', async () => {
    const limited = await startLinkServer({ settings: { LINKS_RATE_LIMIT_CREATE_PER_HOUR: '2' } });
    const input = [1, 2, 3, 4].map((number) => `https://example.com/${number}`).join('\n');
    const { code, stdout, stderr } = await link(['--server', limited.url], { input });
    await limited.close();
    expect(code).toBe(3);
    expect(stdout.trim().split('\n')).toHaveLength(2);
    expect(stderr).toContain('stopped at line 3 with 2 left');
    expect(stderr).toContain('--skip 2');
  });

  test.each<[string, string[], string, number, RegExp]>([
    ['nothing', [], '', 2, /there is no URL/],
    ['a private address', ['http://localhost'], '', 1, /url must not lead/],
    ['a code that is taken', ['https://example.com', '--code', 'taken-code'], '', 1, /--code/],
    ['an expiry that is none', ['https://example.com', '--expires', 'soon'], '', 2, /tomorrow/],
    ['a time without an offset', ['https://example.com', '--expires', '2030-01-01T10:00'], '', 2, /offset/],
    [
      'one code for two URLs',
      ['https://a.example', 'https://b.example', '--code', 'abc'],
      '',
      2,
      /--code is for/,
    ],
    ['one QR code for two URLs', ['https://a.example', 'https://b.example', '--qr'], '', 2, /--qr is for/],
    ['a clipboard for two URLs', ['--copy'], 'https://a.example\nhttps://b.example', 2, /--copy is for/],
    ['stdin and a URL', ['https://a.example', '-'], 'https://b.example', 2, /stdin/],
    ['a file that is not there', ['--from', 'no-such-file'], '', 2, /no such file/],
    ['a question nobody can answer', ['https://example.com', '--password'], '', 2, /--password-stdin/],
    ['a command with a slip in it', ['gett', 'abc'], '', 2, /did you mean get\?/],
    ['another', ['delte', 'abc'], '', 2, /did you mean delete\?/],
    ['a word', ['localhost:3000'], '', 2, /begins with http/],
    ['no server there', ['https://example.com', '--server', 'http://127.0.0.1:1'], '', 69, /svc serve/],
  ])('refuses %s', async (_what, args, input, code, message) => {
    await createLink(server, { customCode: 'taken-code' }).catch(() => undefined);
    const result = await link(args, { input });
    expect(result.code).toBe(code);
    expect(result.stderr).toMatch(message);
    expect(result.stdout).toBe('');
  });
});

test.each<[string | undefined, number | undefined]>([
  ['30', 30],
  ['0', 1],
  ['Sat, 31 Jan 2026 12:00:20 GMT', 20],
  ['Sat, 31 Jan 2026 11:00:00 GMT', 1],
  ['soon', undefined],
  [undefined, undefined],
])('Retry-After: %s waits %s s', (header, seconds) => {
  expect(secondsToWait(header, Date.parse('2026-01-31T12:00:00Z'))).toBe(seconds);
});

describe('reading', () => {
  test('get prints what is known, by code or address', async () => {
    const { shortCode, shortUrl } = await createLink(server, { url: 'https://example.com/get' });
    for (const name of [shortCode, shortUrl, `${shortUrl}+`]) {
      expect((await link(['get', name])).stdout).toContain('leads to  https://example.com/get');
    }
    expect(JSON.parse((await link(['get', shortCode, '--json'])).stdout)).toMatchObject({ shortCode });
  });

  test('get tells a withheld destination from one that is there', async () => {
    const { shortCode } = await createLink(server, { password: 'secret' });
    expect((await link(['get', shortCode])).stdout).toContain('(protected by a password)');
  });

  test('stats draws the timeline and bars, or prints the JSON', async () => {
    const { shortCode } = await createLink(server);
    for (let click = 0; click < 3; click++)
      await follow(server, shortCode, { referer: 'https://news.example/' });
    const drawn = await link(['stats', shortCode, '--days', '7']);
    expect(drawn.stdout).toMatch(/3 clicks[\s\S]*Clicks by day[\s\S]*3 │[\s\S]*Firefox +█+ 3 \(100\.0%\)/);
    expect(drawn.stdout).toMatch(/news\.example +█+ 3/);
    expect(drawn.stdout).not.toContain('\u001b');
    const { timeline, totalClicks } = JSON.parse(
      (await link(['stats', shortCode, '--days', '7', '--json'])).stdout,
    );
    expect({ days: timeline.length, totalClicks }).toEqual({ days: 7, totalClicks: 3 });
  });

  test('qr draws in the terminal and writes PNG and SVG to new files only', async () => {
    const { shortCode } = await createLink(server);
    expect((await link(['qr', shortCode])).stdout).toContain('█');
    const [png, svg] = [join(folder, 'qr.png'), join(folder, 'qr.svg')];
    expect(await link(['qr', shortCode, '-o', png])).toMatchObject({ code: 0, stdout: '' });
    expect(await link(['qr', shortCode, '-o', svg])).toMatchObject({ code: 0 });
    expect(readFileSync(png).subarray(1, 4).toString()).toBe('PNG');
    expect(readFileSync(svg, 'utf8')).toContain('<svg');
    expect(await link(['qr', shortCode, '-o', png])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there already'),
    });
    expect(await link(['qr', shortCode, '-o', 'qr.gif'])).toMatchObject({ code: 2 });
    expect((await link(['qr', shortCode, '--format', 'svg'])).stdout).toBe(readFileSync(svg, 'utf8'));
    expect((await link(['qr', shortCode, '--format', 'png'])).stdout).toContain('PNG');
    const text = join(folder, 'qr.txt');
    expect((await link(['qr', shortCode, '--format', 'text', '-o', text])).code).toBe(0);
    expect(readFileSync(text, 'utf8')).toContain('█');
  });

  test.each([
    ['get', 'mailto:xabc'],
    ['get', 'ftp://host/abcd'],
    ['delete', 'javascript:abcd'],
    ['qr', 'urn:abcd'],
  ])('%s %s is wrong usage', async (command, address) => {
    expect(await link([command, address])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('is no address of a short link'),
    });
  });

  test.each(['0', '366', '1e2', '-1', 'all'])('--days %s is wrong usage', async (days) => {
    expect(await link(['stats', 'nobody7', '--days', days])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('1 to 365'),
    });
  });

  test('an unknown link is exit 1', async () => {
    for (const command of ['get', 'stats', 'qr']) expect((await link([command, 'nobody7'])).code).toBe(1);
  });
});

describe("one's own links", () => {
  test('are listed with their tokens in a file for its owner, and deleted with them', async () => {
    const own = { XDG_STATE_HOME: mkdtempSync(join(folder, 'state-')) };
    const { stdout } = await link(['https://example.com/mine', '--code', 'mine-1'], { env: own });
    await link(['https://example.com/old', '--code', 'mine-2', '--expires', '1m'], { env: own });
    const path = join(own.XDG_STATE_HOME, 'svc', 'links.jsonl');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const listed = await link(['list'], { env: own });
    expect(listed.stdout).toContain(`${stdout.trim()}  for ever  -  https://example.com/mine`);
    expect(listed.stdout).not.toContain('dk_');
    expect((await link(['list', '--tokens'], { env: own })).stdout).toMatch(/dk_[\w-]{43}/);

    expect(await link(['delete', 'mine-1'], { env: own })).toMatchObject({
      code: 0,
      stdout: 'deleted mine-1\n',
    });
    expect((await link(['list'], { env: own })).stdout).not.toContain('mine-1');
    expect(await link(['delete', 'mine-2', 'mine-1'], { env: own })).toMatchObject({
      code: 3,
      stdout: 'deleted mine-2\n',
    });
    expect((await fetch(`${server.url}/api/links/mine-2`)).status).toBe(404);
  });

  test('show their tokens to no other server', async () => {
    const own = { XDG_STATE_HOME: mkdtempSync(join(folder, 'state-')) };
    await link(['https://example.com/mine', '--code', 'mine-3'], { env: own });
    const elsewhere = await startLinkServer();
    const asked = await link(['delete', 'mine-3'], { env: { ...own, LINKS_URL: elsewhere.url } });
    await elsewhere.close();
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('not in your own list') });
    expect((await link(['list'], { env: own })).stdout).toContain('mine-3');
  });

  test('stay on the list when a wrong token was given for them', async () => {
    const own = { XDG_STATE_HOME: mkdtempSync(join(folder, 'state-')) };
    await link(['https://example.com/mine', '--code', 'mine-4'], { env: own });
    expect(await link(['delete', 'mine-4', '--token-stdin'], { env: own, input: 'dk_wrong' })).toMatchObject({
      code: 1,
    });
    expect((await link(['list'], { env: own })).stdout).toContain('mine-4');
  });
});

describe('expiry in words', () => {
  const now = Date.parse('2026-01-31T12:00:00Z');
  test.each([
    ['90m', '2026-01-31T13:30:00.000Z'],
    ['24h', '2026-02-01T12:00:00.000Z'],
    ['7d', '2026-02-07T12:00:00.000Z'],
    ['2w', '2026-02-14T12:00:00.000Z'],
    ['3mo', '2026-05-01T12:00:00.000Z'],
    ['1y', '2027-01-31T12:00:00.000Z'],
    ['in 7 d', '2026-02-07T12:00:00.000Z'],
    ['90s', '2026-01-31T12:01:30.000Z'],
    ['3 days', '2026-02-03T12:00:00.000Z'],
    ['in 3 days', '2026-02-03T12:00:00.000Z'],
    ['2 weeks', '2026-02-14T12:00:00.000Z'],
    ['1 hour', '2026-01-31T13:00:00.000Z'],
    ['In an hour', '2026-01-31T13:00:00.000Z'],
    ['30 minutes', '2026-01-31T12:30:00.000Z'],
    ['6 months', '2026-07-30T12:00:00.000Z'],
    ['next week', '2026-02-07T12:00:00.000Z'],
    ['next year', '2027-01-31T12:00:00.000Z'],
    ['tomorrow', '2026-02-01T12:00:00.000Z'],
    ['never', null],
    ['2027-01-31T12:00:00+02:00', '2027-01-31T10:00:00.000Z'],
    ['2027-02-28', new Date(2027, 1, 28, 23, 59, 59, 999).toISOString()],
  ])('%s', (text, moment) => {
    expect(parseExpiry(text, now)).toBe(moment);
  });

  test.each([
    'soon',
    '7',
    '7 parsecs',
    'days',
    'next 3 days',
    '999999999y',
    'constructor',
    '2027-02-30',
    '2027-02-30T12:00:00Z',
    '2027-01-31T12:00',
    '2027-01-31 12:00',
    '',
  ])('%j is none', (text) => {
    expect(() => parseExpiry(text, now)).toThrow(expect.objectContaining({ code: 'USAGE', exit: 2 }));
  });
});

test('a year fits the width of a terminal, and a single click in it is seen', () => {
  const timeline = Array.from({ length: 365 }, (_, day) => ({
    date: new Date(Date.UTC(2026, 0, 1 + day)).toISOString().slice(0, 10),
    clicks: day === 3 ? 1 : day === 300 ? 10_000 : 0,
  }));
  const empty = { browsers: [], operatingSystems: [], devices: [], topReferrers: [] };
  const head = { shortCode: 'abc', totalClicks: 10_001, createdAt: '', expiresAt: null };
  const drawn = drawStatistics({ ...head, timeline, ...empty }, { width: 80, isColoured: false });
  expect(Math.max(...drawn.split('\n').map((line) => [...line].length))).toBeLessThanOrEqual(80);
  expect(drawn).toContain('▁');
  expect(drawn).toContain('10000 │');
});
