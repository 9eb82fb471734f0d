// Manners that every command shares: where flags stand, what --json promises, what a dry run leaves alone.
import { spawnSync } from 'node:child_process';
import { existsSync, globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createPostgresDatabase, removeFolder, temporaryFolder } from '../support/databases.ts';
import { freePort } from '../support/private-services.ts';
import { runSvc, SVC } from '../support/run-svc.ts';
import { serveSvc } from '../support/serve.ts';
import { TEST_SECRET } from '../support/test-platform.ts';

let folder: string;
beforeAll(() => {
  folder = temporaryFolder();
});
afterAll(() => removeFolder(folder));
const file = (name: string, content: string) => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

describe('flags of a daemon', () => {
  test('stand behind its name and are its own, though serve has some of the same name', async () => {
    expect(await runSvc(['serve', 'api', '--config', '/nonexistent'])).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('/nonexistent cannot be read'),
    });
    const startedAt = performance.now();
    const env = {
      DATABASE_URL: 'postgres://x@127.0.0.1:1/x',
      REDIS_URL: 'redis://127.0.0.1:1',
      SVC_SECRET: TEST_SECRET,
    };
    const waited = await runSvc(['serve', 'scheduler', '--wait-for', '2s'], { env });
    expect(waited).toMatchObject({ code: 10 });
    expect(performance.now() - startedAt).toBeGreaterThan(1_000);
  });

  test('are refused where they would mean nothing', async () => {
    expect(await runSvc(['serve', '--host', '0.0.0.0', 'api'])).toMatchObject({
      code: 2,
      stderr: expect.stringMatching(/--host stands before api[\s\S]*svc serve api --host/),
    });
  });
});

describe.runIf(inject('postgresUrl') !== '')('on PostgreSQL', () => {
  test('--wait-for waits for one that is still starting, and starts when it is there', async () => {
    const database = await createPostgresDatabase(inject('postgresUrl'));
    const port = await freePort();
    const proxied = new URL(database.settings.DATABASE_URL ?? '');
    const target = { host: proxied.hostname, port: Number(proxied.port) };
    proxied.hostname = '127.0.0.1';
    proxied.port = String(port);
    const { connect, createServer } = await import('node:net');
    let isStarting = true;
    const proxy = createServer((client) => {
      client.on('error', () => undefined);
      // It is not ready for the first who asks.
      if (isStarting) client.destroy();
      isStarting = false;
      if (client.destroyed) return;
      const upstream = connect(target);
      client.pipe(upstream).pipe(client);
      upstream.on('error', () => client.destroy());
      client.on('error', () => upstream.destroy());
    });
    proxy.listen(port, '127.0.0.1');
    const served = await serveSvc({
      env: { ...database.settings, DATABASE_URL: proxied.href },
      args: ['--wait-for', '20s', '--no-scheduler'],
    });
    expect(served.log()).toContain('"msg":"waiting"');
    expect(await served.end('SIGTERM')).toBe(0);
    proxy.close();
    await database.remove();
  });

  test('migrate needs no secret: it hashes nothing', async () => {
    const database = await createPostgresDatabase(inject('postgresUrl'), 'template1');
    const env = { DATABASE_URL: database.settings.DATABASE_URL ?? '' };
    expect(await runSvc(['migrate', 'up', '--dry-run'], { env })).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('would apply 0001_paste'),
    });
    expect(await runSvc(['migrate', 'up'], { env })).toMatchObject({ code: 0 });
    await database.remove();
  });

  test('svc paste and svc link talk to a server on PostgreSQL as to any other', async () => {
    const database = await createPostgresDatabase(inject('postgresUrl'));
    const served = await serveSvc({ env: { ...database.settings }, args: ['--no-scheduler'] });
    const env = { PASTE_URL: served.url, LINKS_URL: served.linksUrl, XDG_STATE_HOME: join(folder, 'state') };
    const run = (args: string[], input = '') => runSvc(args, { env, input });
    const pasted = (await run(['paste', '--burn'], 'once')).stdout.trim();
    expect(await run(['paste', 'get', pasted, '--yes'])).toMatchObject({ code: 0, stdout: 'once' });
    expect(await run(['paste', 'get', pasted, '--yes'])).toMatchObject({ code: 1 });
    const kept = (await run(['paste'], 'kept')).stdout.trim();
    expect(await run(['paste', 'delete', kept])).toMatchObject({ code: 0 });
    const short = (await run(['link', 'https://example.com/'])).stdout.trim();
    expect((await run(['link', 'get', short])).stdout).toContain('https://example.com/');
    expect(await run(['link', 'delete', short])).toMatchObject({ code: 0 });
    await served.end('SIGTERM');
    await database.remove();
  });
});

describe('--json', () => {
  test.each([
    ['an unknown option', ['purge', 'pastes', '--json', '--bogus']],
    ['an unknown command', ['jobs', 'histroy', '--json']],
    ['a missing argument', ['link', 'get', '--json']],
  ])('%s is one object on stderr', async (_what, args) => {
    const { code, stdout, stderr } = await runSvc(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(JSON.parse(stderr)).toEqual({
      code: 'USAGE',
      message: expect.any(String),
      hint: expect.any(String),
      exit: 2,
    });
  });

  test('each of several deletions is an object, and the whole an error object', async () => {
    const env = { XDG_STATE_HOME: join(folder, 'empty-state'), PASTE_URL: 'http://127.0.0.1:1' };
    const { code, stdout, stderr } = await runSvc(['paste', 'delete', '--json', 'aaaa', 'bbbb'], { env });
    expect(code).toBe(2);
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line)),
    ).toEqual([
      { address: 'aaaa', deleted: false, code: 'USAGE', message: expect.any(String) },
      { address: 'bbbb', deleted: false, code: 'USAGE', message: expect.any(String) },
    ]);
    expect(JSON.parse(stderr)).toMatchObject({ code: 'USAGE', exit: 2 });
  });
});

describe('a database that is not there', () => {
  test.each([
    [['purge', 'pastes', '--dry-run']],
    [['purge', 'links', '--yes']],
    [['migrate', 'up', '--dry-run']],
    [['migrate', 'status']],
    [['jobs', 'list']],
    [['link', 'export']],
  ])('%j is refused and makes none', async (args) => {
    const dataDir = join(folder, 'mistyped');
    expect(await runSvc([...args, '--data-dir', dataDir])).toMatchObject({
      code: 78,
      stdout: '',
      stderr: expect.stringMatching(/there is no database in .*mistyped[\s\S]*--data-dir/),
    });
    expect(existsSync(dataDir)).toBe(false);
  });

  test('a dry run leaves an older schema as it is, and says so', async () => {
    const dataDir = join(folder, 'older');
    expect(await runSvc(['migrate', 'up', '--data-dir', dataDir])).toMatchObject({ code: 0 });
    expect(await runSvc(['migrate', 'down', '--yes', '--data-dir', dataDir])).toMatchObject({ code: 0 });
    expect(await runSvc(['purge', 'pastes', '--dry-run', '--data-dir', dataDir])).toMatchObject({
      code: 12,
      stderr: expect.stringContaining('svc migrate up'),
    });
    expect(await runSvc(['migrate', 'status', '--data-dir', dataDir])).toMatchObject({ code: 12 });
    rmSync(dataDir, { recursive: true });
  });
});

describe('settings', () => {
  test.each(['999.1.1.1', '10.0.0.0/99', '10.0.0', 'true'])(
    'TRUST_PROXY=%s is refused by name',
    async (value) => {
      expect(await runSvc(['config', 'check'], { env: { TRUST_PROXY: value } })).toMatchObject({
        code: 78,
        stderr: expect.stringContaining('TRUST_PROXY'),
      });
    },
  );

  test.each(['1', '10.0.0.1', '10.0.0.0/8,loopback', 'fd00::/8'])('TRUST_PROXY=%s is fine', async (value) => {
    expect((await runSvc(['config', 'check'], { env: { TRUST_PROXY: value } })).code).toBe(0);
  });

  test('a secret may be named by its file in the file of settings too', async () => {
    const secret = file('secret', `${TEST_SECRET}\n`);
    const settings = file('settings.env', `SVC_SECRET_FILE=${secret}\n`);
    const { code, stdout } = await runSvc(['config', 'show', '--json', '--config', settings]);
    expect(code).toBe(0);
    expect(JSON.parse(stdout).SVC_SECRET).toMatchObject({ source: 'file' });
  });

  test('a port that a container platform injected is ignored by the health check too', async () => {
    expect(
      await runSvc(['healthcheck'], { env: { OPS_PORT: 'tcp://10.0.0.1:80', OPS_HOST: '127.0.0.9' } }),
    ).toMatchObject({
      code: 69,
      stderr: expect.stringMatching(/is ignored[\s\S]*nothing answers at http:\/\/127\.0\.0\.9:3009/),
    });
  });
});

test.runIf(existsSync('/dev/full'))('an answer that cannot be written is a failure, not a stack', () => {
  const { status, stderr } = spawnSync(
    'sh',
    ['-c', `"$0" "$1" config example > /dev/full`, process.execPath, SVC],
    {
      encoding: 'utf8',
    },
  );
  expect(status).toBe(1);
  expect(stderr).toMatch(/^svc: the answer cannot be written: .*\nTry: /);
  expect(stderr).not.toContain('at ');
});

test('every code that a command can end with is explained', async () => {
  const root = new URL('../../', import.meta.url).pathname;
  const codes = new Set(
    globSync('src/{cli,platform,jobs,services}/**/*.ts', { cwd: root }).flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8');
      return [
        ...text.matchAll(/new (?:Failure|EmbeddedDatabaseError)\([\s\S]{0,80}?'([A-Z]+_[A-Z_]+)'/g),
      ].map((match) => match[1] ?? '');
    }),
  );
  expect(codes.size).toBeGreaterThan(15);
  const explained = (await runSvc(['explain'])).stdout;
  expect([...codes].filter((code) => !explained.includes(`${code}\n`))).toEqual([]);
});
