// The administering commands as a shell runs them.

import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import { createPostgresDatabase, removeFolder, temporaryFolder } from '../support/databases.ts';
import { findProgram, freePort } from '../support/private-services.ts';
import { runSvc, SVC } from '../support/run-svc.ts';
import { type ServedSvc, serveSvc, until } from '../support/serve.ts';
import { TEST_SECRET } from '../support/test-platform.ts';

const COMMANDS = [
  [],
  ['serve'],
  ['serve', 'api'],
  ['serve', 'scheduler'],
  ['paste'],
  ['paste', 'get'],
  ['paste', 'raw'],
  ['paste', 'delete'],
  ['paste', 'list'],
  ['link'],
  ['link', 'get'],
  ['link', 'stats'],
  ['link', 'qr'],
  ['link', 'delete'],
  ['link', 'list'],
  ['link', 'import'],
  ['link', 'export'],
  ['shorten'],
  ['migrate'],
  ['migrate', 'up'],
  ['migrate', 'down'],
  ['migrate', 'status'],
  ['config'],
  ['config', 'show'],
  ['config', 'check'],
  ['config', 'example'],
  ['purge'],
  ['purge', 'pastes'],
  ['purge', 'links'],
  ['accounts'],
  ['accounts', 'list'],
  ['accounts', 'show'],
  ['accounts', 'unlock'],
  ['accounts', 'disable-2fa'],
  ['accounts', 'delete'],
  ['accounts', 'purge'],
  ['jobs'],
  ['jobs', 'list'],
  ['jobs', 'run'],
  ['jobs', 'history'],
  ['healthcheck'],
  ['explain'],
];

describe('help', () => {
  test.each(COMMANDS.map((words) => [['svc', ...words].join(' '), words] as const))(
    '%s --help',
    async (name, words) => {
      const { code, stdout, stderr } = await runSvc([...words, '--help']);
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      expect(stdout).toContain(`Usage: ${name}`);
      // A command that only groups others shows those; one that does something has examples and its exit status.
      const groups = ['migrate', 'config', 'purge', 'accounts', 'jobs'].includes(words.join(' '));
      if (!groups) expect(stdout).toMatch(/Examples:\n {2}\$ .*svc[\s\S]*Exit status/);
    },
  );

  test('a typo is answered with what was meant, and exit 2', async () => {
    expect(await runSvc(['serv'])).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringMatching(/svc: unknown command 'serv'[\s\S]*serve/),
    });
    expect(await runSvc(['jobs', 'histroy'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('history'),
    });
    expect(await runSvc(['purge', 'pastes', '--older-than', 'soon'])).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('30d'),
    });
  });

  test('exit-codes are listed, a version is told, codes are explained', async () => {
    expect((await runSvc(['help', 'exit-codes'])).stdout).toMatch(/12 {2}database schema is behind/);
    expect((await runSvc(['--version'])).stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect((await runSvc(['explain', 'schema_behind'])).stdout).toContain('svc migrate up');
    expect((await runSvc(['explain', 'NOTHING'])).code).toBe(2);
  });
});

test('a Node that is too old is told so', () => {
  const old = [findProgram(['node']), '/usr/bin/node', '/usr/local/bin/node']
    .filter((path) => path !== undefined)
    .find(
      (path) =>
        Number(execFileSync(path, ['-p', 'process.versions.node.split(".")[0]'], { encoding: 'utf8' })) < 22,
    );
  // Where every Node is new enough, the check is made to see an old one.
  const args = old
    ? [SVC]
    : [
        '-e',
        `Object.defineProperty(process.versions,'node',{value:'20.1.0'}); await import(${JSON.stringify(SVC)})`,
        '--input-type=module',
      ];
  try {
    execFileSync(old ?? process.execPath, args, { encoding: 'utf8', stdio: 'pipe' });
    throw new Error('it was accepted');
  } catch (error) {
    expect(error).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/this is Node 20.*22\.18 or newer/),
    });
  }
});

describe('config', () => {
  test('show says every value and its source, and no secret', async () => {
    const env = {
      SVC_SECRET: 'hunter2-hunter2-hunter2-hunter2-hunter2',
      DATABASE_URL: 'postgres://svc:hunter2@db/svc',
      PASTE_PORT: '8080',
    };
    const { stdout } = await runSvc(['config', 'show', '--json', '--data-dir', '/srv/svc'], { env });
    const shown = JSON.parse(stdout);
    expect(shown.PASTE_PORT).toEqual({ value: 8080, source: 'environment' });
    expect(shown.SVC_DATA_DIR).toEqual({ value: '/srv/svc', source: 'flag' });
    expect(shown.LOG_LEVEL).toEqual({ value: 'info', source: 'default' });
    expect(stdout + (await runSvc(['config', 'show'], { env })).stdout).not.toContain('hunter2');
  });

  test('check refuses with exit 78, in JSON too', async () => {
    expect(await runSvc(['config', 'check'])).toMatchObject({ code: 0 });
    const refused = await runSvc(['config', 'check', '--json'], { env: { PASTE_PORT: 'x' } });
    expect(refused.code).toBe(78);
    expect(JSON.parse(refused.stderr)).toMatchObject({ code: 'CONFIG_INVALID', exit: 78 });
  });
});

describe('serve that cannot start', () => {
  const folder = temporaryFolder();
  const base = {
    SVC_DATA_DIR: join(folder, 'data'),
    SVC_SECRET: TEST_SECRET,
    KANBAN_PORT: '0',
    RELAY_PORT: '0',
    PASTE_PORT: '0',
    LINKS_PORT: '0',
    OPS_PORT: '0',
  };
  afterAll(() => removeFolder(folder));
  const refused = async (env: Record<string, string>, args: string[] = []) => {
    const result = await runSvc(['serve', ...args], { env: { ...base, ...env } });
    expect(result.stdout).toBe('');
    expect(result.stderr).not.toMatch(/\n\s+at /);
    return result;
  };

  test('on a taken port says which and how to change it', async () => {
    const port = await freePort();
    const other = createServer().listen(port, '127.0.0.1');
    expect(await refused({ PASTE_PORT: String(port) })).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/port is taken[\s\S]*Try: set PASTE_PORT/),
    });
    other.close();
  });

  test('on a data folder that is a file says so', async () => {
    writeFileSync(join(folder, 'file'), '');
    expect(await refused({ SVC_DATA_DIR: join(folder, 'file') })).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('is not a directory'),
    });
  });

  test('on a database that is not there ends with 10 and shows no password', async () => {
    const { code, stderr } = await refused({ DATABASE_URL: 'postgres://svc:hunter2@127.0.0.1:1/svc' });
    expect(code).toBe(10);
    expect(stderr).toMatch(/cannot be used.*ECONNREFUSED[\s\S]*Try: /);
    expect(stderr).not.toContain('hunter2');
  });

  test.skipIf(inject('postgresUrl') === '')(
    'on a schema that is behind ends with 12 and the command, and with --migrate starts',
    async () => {
      const database = await createPostgresDatabase(inject('postgresUrl'), 'template0');
      const env = { ...database.settings };
      expect(await refused(env)).toMatchObject({
        code: 12,
        stderr: expect.stringContaining('Try: svc migrate up'),
      });
      expect(await runSvc(['migrate', 'status'], { env: { ...base, ...env } })).toMatchObject({
        code: 12,
        stdout: expect.stringContaining('pending  0001_paste'),
      });
      const server = await serveSvc({ env, args: ['--migrate'] });
      expect(await runSvc(['migrate', 'status'], { env: { ...base, ...env } })).toMatchObject({ code: 0 });
      expect(await server.end('SIGTERM')).toBe(0);
      await database.remove();
    },
  );

  test.skipIf(inject('postgresUrl') === '')('without the Redis it was told of ends with 69', async () => {
    const database = await createPostgresDatabase(inject('postgresUrl'));
    expect(await refused({ ...database.settings, REDIS_URL: 'redis://127.0.0.1:1' })).toMatchObject({
      code: 69,
      stderr: expect.stringContaining('Redis at 127.0.0.1:1'),
    });
    await database.remove();
  });

  test('as a separate daemon needs PostgreSQL and Redis', async () => {
    expect(await runSvc(['serve', 'api'], { env: base })).toMatchObject({
      code: 78,
      stderr: expect.stringContaining('DATABASE_URL'),
    });
  });

  test('with a service that is not in this version says which there are', async () => {
    expect(await runSvc(['serve', '--only', 'wiki'], { env: base })).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('there is: kanban, paste, links'),
    });
  });
});

describe('beside a running svc serve on the same data folder', () => {
  const folder = temporaryFolder();
  const config = join(folder, 'svc.env');
  const env = { SVC_DATA_DIR: join(folder, 'data'), SVC_SECRET: TEST_SECRET };
  let server: ServedSvc;
  beforeAll(async () => {
    writeFileSync(config, 'LOG_LEVEL=info\n');
    // No job purges what a test is about to.
    server = await serveSvc({
      env: { SVC_DATA_DIR: env.SVC_DATA_DIR },
      args: ['--config', config, '--no-scheduler'],
    });
  });
  afterAll(async () => {
    await server.end('SIGTERM');
    removeFolder(folder);
  });
  const svc = (...args: string[]) => runSvc(args, { env: { ...env, OPS_PORT: String(server.opsPort) } });

  test('a second serve is refused with 11 and told who holds it', async () => {
    expect(await runSvc(['serve'], { env: { ...env, PASTE_PORT: '0', OPS_PORT: '0' } })).toMatchObject({
      code: 11,
      stderr: expect.stringMatching(/held by `svc serve` \(process \d+/),
    });
  });

  test('the other commands work through its socket', async () => {
    expect((await svc('migrate', 'status')).stdout).toContain('applied  0001_paste');
    expect(
      (await svc('jobs', 'list', '--json')).stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).name),
    ).toEqual([
      'dispatch-webhooks',
      'purge-pastes',
      'purge-links',
      'roll-click-months',
      'purge-accounts',
      'prune-deliveries',
      'prune-notifications',
      'prune-job-history',
    ]);
    for (const job of ['purge-links', 'roll-click-months']) {
      expect(await svc('jobs', 'run', job, '--json')).toMatchObject({ code: 0 });
    }
    expect(await svc('jobs', 'run', 'purge-pastes', '--json')).toMatchObject({ code: 0 });
    expect((await svc('jobs', 'history', '--json')).stdout).toContain('"status":"succeeded"');
    expect(await svc('jobs', 'run', 'nothing')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('purge-pastes'),
    });
    expect(await svc('healthcheck')).toMatchObject({ code: 0, stdout: 'ready\n' });
  });

  test('purge plans, refuses to guess, and purges', async () => {
    const query = await openPool(env.SVC_DATA_DIR);
    for (let index = 0; index < 3; index++) {
      await fetch(`${server.url}/api/pastes`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{"content":"hello","expiresIn":"10min"}',
      });
    }
    await query("UPDATE paste SET expires_at = now() - interval '2 days'");

    expect(await svc('purge', 'pastes', '--dry-run')).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^would remove 3 pastes, 15 bytes/),
    });
    expect(await svc('purge', 'pastes')).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('--yes'),
    });
    expect(JSON.parse((await svc('purge', 'pastes', '--dry-run', '--json')).stdout)).toMatchObject({
      dryRun: true,
      pastes: 3,
      contentBytes: 15,
    });
    expect((await query('SELECT 1 FROM paste')).length).toBe(3);
    expect(await svc('purge', 'pastes', '--yes', '--older-than', '3d')).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('removed 0 pastes'),
    });

    await query(
      "INSERT INTO lease VALUES ('purge-pastes', 't', 'somebody else', now(), now() + interval '1 hour')",
    );
    expect(await svc('purge', 'pastes', '--yes')).toMatchObject({
      code: 11,
      stderr: expect.stringContaining('somebody else'),
    });
    await query('DELETE FROM lease');
    expect(JSON.parse((await svc('purge', 'pastes', '--yes', '--json')).stdout)).toMatchObject({
      pastes: 3,
      contentBytes: 15,
      complete: true,
    });
    expect((await query('SELECT 1 FROM paste')).length).toBe(0);
    await query.end();
  });

  test('SIGHUP reads the log level again', async () => {
    writeFileSync(config, 'LOG_LEVEL=debug\n');
    server.child.kill('SIGHUP');
    await until(
      () =>
        server.log().includes('"level":"debug","msg":"log level read again"') ||
        server.log().includes('log level read again'),
    );
    await fetch(`${server.url}/api/stats`);
    await until(() => server.log().includes('"path":"/api/stats"'));
  });

  test('metrics speak of routes, not of pastes', async () => {
    await fetch(`${server.url}/api/pastes/some-secret-id`);
    const metrics = await (await fetch(`${server.opsUrl}/metrics`)).text();
    expect(metrics).toContain('route="/api/pastes/{id}"');
    expect(metrics).not.toContain('some-secret-id');
  });
});

describe('stopping', () => {
  test('does not wait for a client that has nothing to ask', async () => {
    const folder = temporaryFolder();
    const server = await serveSvc({ env: { SVC_DATA_DIR: join(folder, 'data') } });
    const silent = connect(Number(new URL(server.url).port), '127.0.0.1');
    await new Promise((resolve) => silent.once('connect', resolve));
    const startedAt = performance.now();
    expect(await server.end('SIGTERM')).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    silent.destroy();
    removeFolder(folder);
  });

  test('a second signal ends at once, with a failure', async () => {
    const folder = temporaryFolder();
    const server = await serveSvc({ env: { SVC_DATA_DIR: join(folder, 'data') } });
    // A request whose body never comes keeps the first signal waiting.
    const slow = connect(Number(new URL(server.url).port), '127.0.0.1');
    slow.on('error', () => {});
    slow.write(
      'POST /api/pastes HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{',
    );
    await until(async () => (await fetch(`${server.url}/api/health`)).ok);
    server.child.kill('SIGTERM');
    await until(() => server.log().includes('"stopping"'));
    expect(await server.end('SIGTERM')).toBe(1);
    expect(server.log()).toContain('a second signal');
    slow.destroy();
    removeFolder(folder);
  });
});

interface Query {
  (text: string): Promise<unknown[]>;
  end(): Promise<void>;
}

/** Runs statements in the embedded database of a running server, as any other process would. */
async function openPool(dataDir: string): Promise<Query> {
  const { openEmbeddedDatabase } = await import('../../src/platform/embedded/open.ts');
  const { default: pg } = await import('pg');
  const shared = await openEmbeddedDatabase({ dataDir, command: 'a test', mode: 'share' });
  const pool = new pg.Pool(shared.connection);
  const query = async (text: string) => (await pool.query(text)).rows;
  const end = async () => {
    await pool.end();
    await shared.close();
  };
  return Object.assign(query, { end });
}
