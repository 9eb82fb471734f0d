// `svc link import` and `svc link export` as a shell runs them.
import { once } from 'node:events';
import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { fastestBackend, removeFolder, type TestDatabase, temporaryFolder } from '../support/databases.ts';
import { runSvc, spawnSvc } from '../support/run-svc.ts';
import { TEST_SECRET } from '../support/test-platform.ts';

const folder = temporaryFolder();
const path = (name: string) => join(folder, name);
type Installation = 'data' | 'other' | 'large';
const databases = new Map<Installation, TestDatabase>();
const envOf = (name: Installation) => ({ ...databases.get(name)?.settings, SVC_SECRET: TEST_SECRET });
const svcOn =
  (name: Installation) =>
  (args: string[], input = '') =>
    runSvc(args, { input, env: envOf(name) });
const svc = svcOn('data');

const counts = { rows: z.int(), imported: z.int(), unchanged: z.int(), refused: z.int() };
const importEvent = z.discriminatedUnion('event', [
  z.strictObject({ event: z.literal('progress'), ...counts }),
  z.strictObject({
    event: z.literal('result'),
    dryRun: z.boolean(),
    ...counts,
    earlier: z.strictObject(counts),
    complete: z.boolean(),
    durationMs: z.int(),
  }),
]);
const eventsOf = (stdout: string) =>
  stdout
    .trim()
    .split('\n')
    .map((line) => importEvent.parse(JSON.parse(line)));

const sortedLines = (text: string) => text.split('\n').sort();

beforeAll(async () => {
  for (const name of ['data', 'other', 'large'] as const) {
    databases.set(name, await fastestBackend().create());
    expect(await svcOn(name)(['migrate', 'up'])).toMatchObject({ code: 0 });
  }
});
afterAll(async () => {
  for (const database of databases.values()) await database.remove();
  removeFolder(folder);
});

describe('import', () => {
  test('imports what it can, names what it refuses, and ends with 3', async () => {
    const [file, report] = [path('yourls.csv'), path('refused.csv')];
    const bad = Array.from(
      { length: 25 },
      (_, index) => `b${index}!,https://example.com/,,2024-01-01 00:00:00,,1\n`,
    );
    writeFileSync(
      file,
      `keyword,url,title,timestamp,ip,clicks\nabc,https://example.com/,T,2024-01-01 00:00:00,,7\n${bad.join('')}`,
    );
    const dry = await svc(['link', 'import', file, '--dry-run', '--report', report]);
    expect(dry).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^would import 1 of 26 rows in .*; 25 would be refused\n$/),
    });
    const { code, stdout, stderr } = await svc(['link', 'import', file, '--report', report]);
    expect({ code, stdout }).toEqual({
      code: 3,
      stdout: expect.stringMatching(/^imported 1 of 26 rows in .*; 25 were refused\n$/),
    });
    const lines = stderr.trim().split('\n');
    expect(lines).toHaveLength(22);
    expect(lines[0]).toBe(
      'svc: row 3 ("b0!" "https://example.com/"): code must be 3 to 20 characters of a-z, A-Z, 0-9, _ and -',
    );
    expect(lines[20]).toBe('svc: left out, since links here have no such thing: "title", "ip"');
    expect(lines[21]).toBe(`svc: and 5 more rows; all are in ${report}`);
    expect(readFileSync(report, 'utf8').split('\n')).toHaveLength(27);
    expect(readFileSync(report, 'utf8')).toContain('27,b24!,https://example.com/,"code must be');

    // The same file again: nothing to do, and still some of it is not in.
    expect(await svc(['link', 'import', file])).toMatchObject({
      code: 3,
      stdout: expect.stringMatching(/^nothing to do: .*1 of its 26 rows imported, 25 refused; --restart/),
    });
  });

  test('reads a pipe, prints JSON, wherever the option stands', async () => {
    const input = '{"shortCode":"piped","originalUrl":"https://example.com/piped"}\n';
    const { code, stdout } = await svc(['link', 'import', '-', '--json'], input);
    expect({ code, last: eventsOf(stdout).at(-1) }).toMatchObject({
      code: 0,
      last: { event: 'result', rows: 1, imported: 1, refused: 0, complete: true },
    });
    expect(
      eventsOf((await svc(['link', '--json', 'import', '-'], `${input}\n`)).stdout).at(-1),
    ).toMatchObject({
      imported: 0,
      unchanged: 1,
    });
  });

  test('ends at the end of a batch when it is interrupted, and goes on with the same command', async () => {
    const [file, report] = [path('large.csv'), path('large-refused.csv')];
    const rows = Array.from({ length: 30_000 }, (_, index) =>
      index % 1_000 === 0 ? 'ftp://example.com/\n' : `https://large.example/${index}\n`,
    );
    writeFileSync(file, `url\n${rows.join('')}`);
    const args = ['link', 'import', file, '--json', '--report', report];
    const child = spawnSvc(args, { env: envOf('large') });
    let stdout = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      stdout += chunk;
    });
    // The first refused row is in the report before its batch is committed.
    const [stderr] = (await once(child.stderr ?? child, 'data')) as [Buffer];
    expect(stderr.toString()).toContain('row 2');
    child.kill('SIGINT');
    const [code] = (await once(child, 'close')) as [number | null];
    const first = eventsOf(stdout).at(-1);
    expect({ code, first }).toMatchObject({ code: 3, first: { event: 'result', complete: false } });
    expect(first?.rows).toBeLessThan(30_000);

    const again = await svcOn('large')(args);
    expect(again.stderr).toContain('rows were done before');
    const second = eventsOf(again.stdout).at(-1);
    expect((first?.rows ?? 0) + (second?.rows ?? 0)).toBe(30_000);
    expect((first?.imported ?? 0) + (second?.imported ?? 0)).toBe(29_970);
    const reported = readFileSync(report, 'utf8').trim().split('\n').slice(1);
    expect(new Set(reported.map((line) => line.split(',')[0])).size).toBe(30);
  });

  test.each([
    ['a file that is not there', () => path('nothing.csv'), /no such file/],
    ['a folder', () => folder, /cannot be read/],
    ['text in UTF-16', () => path('utf16.csv'), /not UTF-8[\s\S]*Try: .*iconv/],
    ['a file without destinations', () => path('titles.csv'), /no column holds destinations/],
  ])('refuses %s with 2', async (_what, file, message) => {
    writeFileSync(path('utf16.csv'), Buffer.from('\ufeffurl\nhttps://example.com/é\n', 'utf16le'));
    writeFileSync(path('titles.csv'), 'title\nT\n');
    expect(await svc(['link', 'import', file()])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(message),
    });
  });

  test('never writes its report over another file', async () => {
    writeFileSync(path('some.csv'), 'url\nhttps://example.com/\n');
    expect(await svc(['link', 'import', path('some.csv'), '--report', path('some.csv')])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('no report'),
    });
    expect(readFileSync(path('some.csv'), 'utf8')).toBe('url\nhttps://example.com/\n');
  });

  test('shows nothing on a terminal that could steer it', async () => {
    const { stderr } = await svc(
      ['link', 'import', '-'],
      'code,url\n"\u001b[2J\u009b",https://example.com/\n',
    );
    expect(stderr).toContain(String.raw`\u001b[2J\u009b`);
    expect(stderr).not.toContain('\u001b');
  });
});

describe('export', () => {
  test('writes a new file for its owner alone, which another server imports', async () => {
    const file = path('backup.ndjson');
    expect(await svc(['link', 'export', file, '--with-secrets'])).toMatchObject({ code: 0, stdout: '' });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(await svc(['link', 'export', file])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('it is there already'),
    });
    const other = svcOn('other');
    const imported = eventsOf((await other(['link', 'import', file, '--json'])).stdout).at(-1);
    expect(imported).toMatchObject({ refused: 0, unchanged: 0 });
    const { stdout } = await other(['link', 'export', '--format', 'json', '--with-secrets']);
    const before = sortedLines(readFileSync(file, 'utf8'));
    expect(sortedLines(stdout).filter((line, index) => line !== before[index])).toEqual([]);
    rmSync(file);
  });

  test('prints CSV, or JSON lines with --json', async () => {
    const csv = await svc(['link', 'export']);
    expect(csv.stdout).toMatch(
      /^shortCode,originalUrl,createdAt,expiresAt,clickCount,hasPassword\nabc,https:\/\/example.com\/,2024-01-01T00:00:00.000Z,,7,false\n/,
    );
    const json = await svc(['link', 'export', '--json']);
    expect(JSON.parse(json.stdout.split('\n')[0] ?? '')).toEqual({
      shortCode: 'abc',
      originalUrl: 'https://example.com/',
      createdAt: '2024-01-01T00:00:00.000Z',
      expiresAt: null,
      clickCount: 7,
      hasPassword: false,
    });
  });

  test('ends quietly when its reader has seen enough', async () => {
    const child = spawnSvc(['link', 'export'], {
      env: envOf('large'),
    });
    let stderr = '';
    child.stderr?.on('data', (chunk: Buffer) => {
      stderr += chunk;
    });
    child.stdout?.once('data', () => child.stdout?.destroy());
    const [code] = (await once(child, 'close')) as [number | null];
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  });
});
