// `svc paste` as a shell runs it, against a real server.
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { create, json } from '../support/api.ts';
import { type PasteServer, startPasteServer } from '../support/paste-server.ts';
import { type RunOptions, runSvc } from '../support/run-svc.ts';

let server: PasteServer;
let folder: string;
let env: Record<string, string>;
beforeAll(async () => {
  server = await startPasteServer();
  // The terminal's list goes by the real time.
  server.clock.advance(Date.now() - server.clock.now());
  folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
  env = { PASTE_URL: server.url, XDG_STATE_HOME: folder };
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

const paste = (args: string[], options: RunOptions = {}) =>
  runSvc(['paste', ...args], { ...options, env: { ...env, ...options.env } });
const read = (url: string) => json(fetch(`${server.url}/api/pastes/${new URL(url).pathname.slice(1)}`));
const file = (name: string, content: string | Uint8Array) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

describe('creating', () => {
  test('a pipe prints the address and nothing else', async () => {
    const { stdout, stderr, code } = await paste([], { input: 'from a pipe\n' });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout).toMatch(new RegExp(`^${server.url}/\\w{10}\n$`));
    expect(await read(stdout.trim())).toMatchObject({
      content: 'from a pipe\n',
      language: 'plaintext',
      title: null,
    });
  });

  test('a file brings its name and its language', async () => {
    const { stdout } = await paste([file('main.rs', 'fn main() {}\n')]);
    expect(await read(stdout.trim())).toMatchObject({
      title: 'main.rs',
      language: 'rust',
      content: 'fn main() {}\n',
    });
  });

  test('a long file name is cut between characters, not within one', async () => {
    const { code, stdout } = await paste([file(`a${'😀'.repeat(60)}`, 'x')]);
    expect(code).toBe(0);
    expect((await read(stdout.trim())).title).toBe(`a${'😀'.repeat(60)}`);
  });

  test('- is stdin, and flags say the rest', async () => {
    const { stdout } = await paste(
      ['-', '--lang', 'ts', '--title', 'T', '--expires', '7d', '--id', 'from-shell'],
      { input: 'x' },
    );
    expect(stdout).toBe(`${server.url}/from-shell\n`);
    const { createdAt, expiresAt, ...rest } = await read(stdout.trim());
    expect(rest).toMatchObject({ title: 'T', language: 'typescript' });
    expect(Date.parse(String(expiresAt)) - Date.parse(String(createdAt))).toBe(604_800_000);
  });

  test('--json prints the reply of the API', async () => {
    const { stdout } = await paste(['--json'], { input: 'x' });
    expect(JSON.parse(stdout)).toMatchObject({
      pasteId: expect.any(String),
      deleteToken: expect.stringMatching(/^dk_/),
    });
  });

  test('--qr draws on stderr', async () => {
    const { stdout, stderr } = await paste(['--qr'], { input: 'x' });
    expect(stdout.split('\n')).toHaveLength(2);
    expect(stderr).toContain('█');
  });

  test('a password comes from a variable, a file or stdin, and burning with it', async () => {
    const secret = file('secret.txt', 'pw from file\n');
    const source = file('note.txt', 'hidden');
    const runs = [
      await paste([source], { env: { PASTE_PASSWORD: 'pw from file' } }),
      await paste([source], { env: { PASTE_PASSWORD_FILE: secret } }),
      await paste([source, '--password-stdin', '--burn'], { input: 'pw from file\n' }),
    ];
    for (const { stdout } of runs) {
      const opened = await paste(['get', stdout.trim()], { env: { PASTE_PASSWORD: 'pw from file' } });
      expect(opened).toMatchObject({ code: 0, stdout: 'hidden' });
    }
    expect(
      (await paste(['get', runs[2]?.stdout.trim() ?? ''], { env: { PASTE_PASSWORD: 'pw from file' } })).code,
    ).toBe(1);
  });

  test.each<[string, string[], string | Uint8Array, number, RegExp]>([
    ['nothing', [], '', 2, /the input is empty/],
    ['more than 1 MiB', [], 'x'.repeat(1_048_577), 2, /larger than 1 MiB/],
    ['bytes that are no text', [], Buffer.from([0xff, 0xfe]), 2, /not UTF-8/],
    ['NUL', [], 'a\0b', 2, /NUL/],
    ['a file that is not there', ['no-such-file'], '', 2, /there is no such file/],
    ['an expiry that is none', ['--expires', '3d'], 'x', 1, /expiresIn must be one of/],
    ['an unknown flag', ['--burm'], 'x', 2, /Did you mean --burn/],
    ['no server there', ['--server', 'http://127.0.0.1:1'], 'x', 69, /svc serve/],
    ['a server that is no address', ['--server', 'ftp://x'], 'x', 2, /is not an origin/],
    ['a question nobody can answer', ['--password'], 'x', 2, /--password-stdin/],
    ['stdin for two things', ['--password-stdin'], 'x', 2, /both/],
  ])('refuses %s', async (_what, args, input, code, message) => {
    const result = await paste(args, { input });
    expect(result).toMatchObject({ code, stdout: '' });
    expect(result.stderr).toMatch(message);
    expect(result.stderr).toMatch(/^svc: [\s\S]+\nTry: /);
    expect(result.stderr).not.toMatch(/\n\s+at /);
  });

  test('takes exactly 1 MiB', async () => {
    expect((await paste([], { input: 'x'.repeat(1_048_576) })).code).toBe(0);
  });

  test('with --json an error is one JSON object', async () => {
    const { stderr } = await paste(['--json', 'no-such-file']);
    expect(JSON.parse(stderr)).toEqual({
      code: 'INPUT_UNREADABLE',
      message: expect.any(String),
      hint: expect.any(String),
      exit: 2,
    });
  });

  test('a taken id is said, with what to do', async () => {
    await create(server, { customId: 'already-there' });
    const { code, stderr } = await paste(['--id', 'already-there'], { input: 'x' });
    expect(code).toBe(1);
    expect(stderr).toContain('already taken');
    expect(stderr).toContain('choose another --id');
  });
});

describe('reading', () => {
  test('get and raw print the content exactly', async () => {
    const { pasteId, url } = await create(server, { content: 'no line end, é 😀' });
    for (const args of [
      ['get', pasteId],
      ['raw', pasteId],
      ['get', url],
      ['raw', `${server.url}/raw/${pasteId}`],
    ]) {
      expect(await paste(args)).toMatchObject({ code: 0, stdout: 'no line end, é 😀' });
    }
  });

  test('a protected paste needs its password, and nobody is asked in a script', async () => {
    const { pasteId } = await create(server, { password: 'pä ss', content: 'hidden' });
    expect(await paste(['get', pasteId])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--password-stdin'),
    });
    expect(await paste(['raw', pasteId, '--password-stdin'], { input: 'pä ss\n' })).toMatchObject({
      stdout: 'hidden',
    });
    expect(await paste(['get', pasteId], { env: { PASTE_PASSWORD: 'no' } })).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('wrong'),
    });
  });

  test('-o writes a file, and overwrites none unless told so', async () => {
    const { pasteId } = await create(server, { content: 'to a file' });
    const target = join(folder, 'out.txt');
    expect((await paste(['get', pasteId, '-o', target])).code).toBe(0);
    expect(await paste(['get', pasteId, '-o', target])).toMatchObject({ code: 2, stdout: 'to a file' });
    expect((await paste(['get', pasteId, '-o', target, '--yes'])).code).toBe(0);
    expect(readFileSync(target, 'utf8')).toBe('to a file');
  });

  test('an unknown paste and a name that is none', async () => {
    expect(await paste(['get', 'no-such-paste'])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining('does not exist'),
    });
    expect(await paste(['get', '../etc'])).toMatchObject({ code: 2 });
  });
});

describe("one's own list", () => {
  const own = { XDG_STATE_HOME: '' };
  beforeAll(() => {
    own.XDG_STATE_HOME = mkdtempSync(join(folder, 'own-'));
  });

  test('remembers what was made, for its owner alone, and deletes with its tokens', async () => {
    const first = (await paste(['--id', 'mine-1'], { input: 'a', env: own })).stdout.trim();
    await paste(['--id', 'mine-2', '--expires', '1h'], { input: 'b', env: own });
    const path = join(own.XDG_STATE_HOME, 'svc', 'pastes.jsonl');
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(statSync(join(path, '..')).mode & 0o777).toBe(0o700);

    const listed = (await paste(['list', '--json'], { env: own })).stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(listed.map(({ url }) => url)).toEqual([first, `${server.url}/mine-2`]);
    expect(JSON.stringify(listed)).not.toContain('dk_');
    expect((await paste(['list', '--tokens'], { env: own })).stdout).toMatch(/dk_/);

    expect(await paste(['delete', 'mine-1', 'mine-2'], { env: own })).toMatchObject({
      code: 0,
      stdout: 'deleted mine-1\ndeleted mine-2\n',
    });
    expect((await fetch(first)).status).toBe(404);
    expect((await paste(['list'], { env: own })).stdout).toBe('');
  });

  test('goes on after one that cannot be deleted, and says so', async () => {
    await paste(['--id', 'mine-3'], { input: 'a', env: own });
    expect(await paste(['delete', 'not-mine', 'mine-3'], { env: own })).toMatchObject({
      code: 3,
      stdout: 'deleted mine-3\n',
    });
    expect(await paste(['delete', 'not-mine'], { env: own })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('--token-stdin'),
    });
  });

  test('shows its tokens to no other server, and keeps those it was not asked for', async () => {
    await paste(['--id', 'mine-4'], { input: 'a', env: own });
    const elsewhere = await startPasteServer();
    const asked = await paste(['delete', 'mine-4'], { env: { ...own, PASTE_URL: elsewhere.url } });
    await elsewhere.close();
    expect(asked).toMatchObject({ code: 2, stderr: expect.stringContaining('not in your own list') });
    expect(await paste(['delete', 'mine-4', '--token-stdin'], { input: 'dk_wrong', env: own })).toMatchObject(
      {
        code: 1,
      },
    );
    expect((await paste(['list'], { env: own })).stdout).toContain('mine-4');
    expect(await paste(['delete', 'mine-4'], { env: own })).toMatchObject({ code: 0 });
  });

  test('takes a token from elsewhere', async () => {
    const { pasteId, deleteToken } = await create(server);
    expect(
      (await paste(['delete', pasteId, '--token-stdin'], { input: `${deleteToken}\n`, env: own })).code,
    ).toBe(0);
  });

  test('loses no line to commands that run at the same time, nor to a damaged one', async () => {
    const shared = { XDG_STATE_HOME: mkdtempSync(join(folder, 'shared-')) };
    await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        paste(['--id', `racing-${index}`], { input: 'x', env: shared }),
      ),
    );
    writeFileSync(join(shared.XDG_STATE_HOME, 'svc', 'pastes.jsonl'), '{"half', { flag: 'a' });
    const { stdout, stderr } = await paste(['list', '--json'], { env: shared });
    expect(stdout.trim().split('\n')).toHaveLength(6);
    expect(stderr).toContain('1 damaged lines');
  });

  test('a list that cannot be written does not lose the token', async () => {
    const { code, stdout, stderr } = await paste([], {
      input: 'x',
      env: { XDG_STATE_HOME: file('not-a-folder', '') },
    });
    expect(code).toBe(0);
    expect(stdout).toContain(server.url);
    expect(stderr).toMatch(/the delete token is dk_/);
  });
});
