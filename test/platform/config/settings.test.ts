import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { describe, expect, test } from 'vitest';
import { makeConfig } from '../../../src/platform/config/config.ts';
import { settingsExample } from '../../../src/platform/config/example.ts';
import { loadSettings, type SettingsInput } from '../../../src/platform/config/load.ts';
import { settingNames } from '../../../src/platform/config/settings.ts';
import { Failure } from '../../../src/platform/errors.ts';

const folder = mkdtempSync(join(tmpdir(), 'svc-test-'));
const file = (text: string) => {
  const path = join(folder, `${Math.random()}.env`);
  writeFileSync(path, text);
  return path;
};

function failureOf(input: SettingsInput): Failure {
  try {
    loadSettings(input);
  } catch (error) {
    if (error instanceof Failure) return error;
  }
  throw new Error('nothing was refused');
}

describe('the four sources', () => {
  test('win in this order: flag, environment, file, default', () => {
    const path = file('PASTE_PORT=3\nLINKS_PORT=3\nKANBAN_PORT=3\n');
    const { values, sources } = loadSettings({
      flags: { PASTE_PORT: '1' },
      environment: { PASTE_PORT: '2', LINKS_PORT: '2' },
      file: path,
    });
    expect([values.PASTE_PORT, values.LINKS_PORT, values.KANBAN_PORT, values.RELAY_PORT]).toEqual([
      1, 2, 3, 3001,
    ]);
    expect([sources.PASTE_PORT, sources.LINKS_PORT, sources.KANBAN_PORT, sources.RELAY_PORT]).toEqual([
      'flag',
      'environment',
      'file',
      'default',
    ]);
  });

  test('SVC_CONFIG names the file where no flag does', () => {
    expect(loadSettings({ environment: { SVC_CONFIG: file('LOG_LEVEL=debug') } }).values.LOG_LEVEL).toBe(
      'debug',
    );
  });

  test('a secret may be in a file of its own', () => {
    const path = file('a secret of more than thirty-two characters\n');
    expect(loadSettings({ environment: { SVC_SECRET_FILE: path } }).values.SVC_SECRET).toBe(
      'a secret of more than thirty-two characters',
    );
    expect(failureOf({ environment: { SVC_SECRET_FILE: '/no/such/file' } }).message).toContain(
      'SVC_SECRET_FILE',
    );
  });

  test('an address that a container platform put into a port is ignored, with a warning', () => {
    const { values, warnings } = loadSettings({ environment: { PASTE_PORT: 'tcp://10.0.0.1:80' } });
    expect(values.PASTE_PORT).toBe(3002);
    expect(warnings).toEqual([expect.stringContaining('PASTE_PORT=tcp://10.0.0.1:80')]);
  });

  test('a name nobody knows is refused in a file and none of ours in the environment', () => {
    const failure = failureOf({ file: file('PASTE_PROT=1\nLOG_LEVEL=info') });
    expect(failure).toMatchObject({ code: 'CONFIG_INVALID', exit: 78 });
    expect(failure.message).toContain('PASTE_PROT: no such setting');
    loadSettings({ environment: { PASTE_PROT: '1' } });
  });

  test('a file that is not there is said', () => {
    expect(failureOf({ file: '/no/such.env' })).toMatchObject({ code: 'CONFIG_UNREADABLE', exit: 78 });
  });
});

describe('a malformed setting', () => {
  test.each([
    ['PASTE_PORT', '70000'],
    ['PASTE_PORT', 'http'],
    ['PASTE_URL', 'https://x/path'],
    ['PASTE_URL', 'ftp://x'],
    ['PASTE_URL', 'https://u:p@x'],
    ['TRUST_PROXY', 'true'],
    ['TRUST_PROXY', 'proxy.example.org'],
    ['LOG_LEVEL', 'loud'],
    ['LOG_FORMAT', 'xml'],
    ['RATE_LIMIT_CREATE_PER_HOUR', '-1'],
    ['RATE_LIMIT_CREATE_PER_HOUR', '1.5'],
    ['LINKS_KEEP_CLICKS', '395'],
    ['WEBHOOK_RETRY_SCHEDULE', '2m,30s'],
    ['WEBHOOK_ALLOW_PRIVATE_TARGETS', 'yes'],
    ['DATABASE_POOL_SIZE', '0'],
  ])('%s=%s is refused with its name, its value and what it takes', (name, value) => {
    const { message, exit } = failureOf({ environment: { [name]: value } });
    expect(exit).toBe(78);
    expect(message).toContain(`${name}: ${JSON.stringify(value)} (from the environment)`);
    expect(message).toMatch(/is not what it takes: .{5,}/);
  });

  test.each(['SVC_SECRET', 'DATABASE_URL', 'REDIS_URL'])(
    '%s is refused without showing its value',
    (name) => {
      const { message } = failureOf({ environment: { [name]: 'hunter2' } });
      expect(message).toContain(name);
      expect(message).not.toContain('hunter2');
    },
  );

  test('all of them are named at once', () => {
    const { message } = failureOf({ environment: { PASTE_PORT: 'a', LOG_LEVEL: 'b' } });
    expect(message).toContain('PASTE_PORT');
    expect(message).toContain('LOG_LEVEL');
  });
});

describe('settings that must fit together', () => {
  const configOf = (environment: Record<string, string>, role: Parameters<typeof makeConfig>[1] = 'serve') =>
    makeConfig(loadSettings({ environment }).values, role);

  test('DATABASE_URL needs SVC_SECRET', () => {
    expect(() => configOf({ DATABASE_URL: 'postgres://x/y' })).toThrow(/SVC_SECRET/);
  });

  test.each(['api', 'scheduler', 'relay'] as const)('a separate %s needs PostgreSQL and Redis', (role) => {
    expect(() => configOf({}, role)).toThrow(/DATABASE_URL/);
    expect(() => configOf({ DATABASE_URL: 'postgres://x/y', SVC_SECRET: 'x'.repeat(32) }, role)).toThrow(
      /REDIS_URL/,
    );
  });

  test("a service's own limit wins over the one for all", () => {
    expect(configOf({}).paste.createPerHour).toBe(10);
    expect(configOf({ RATE_LIMIT_CREATE_PER_HOUR: '7' }).paste.createPerHour).toBe(7);
    expect(
      configOf({ RATE_LIMIT_CREATE_PER_HOUR: '7', PASTE_RATE_LIMIT_CREATE_PER_HOUR: '0' }).paste
        .createPerHour,
    ).toBe(0);
  });

  test('the public address follows the port, and loses its last slash', () => {
    expect(configOf({ PASTE_PORT: '8080' }).paste.url).toBe('http://localhost:8080');
    expect(configOf({ PASTE_URL: 'https://paste.example.org/' }).paste.url).toBe('https://paste.example.org');
  });
});

describe('the example file', () => {
  test('is the one in config/', () => {
    expect(readFileSync(new URL('../../../config/svc.env.example', import.meta.url), 'utf8')).toBe(
      settingsExample(),
    );
  });

  test('names every setting, and its values are accepted when uncommented', () => {
    const uncommented = settingsExample().replaceAll(/^#([A-Z_]+=)/gm, '$1');
    expect(Object.keys(parseEnv(uncommented)).sort()).toEqual([...settingNames].sort());
    const { values } = loadSettings({ file: file(uncommented) });
    expect(makeConfig(values, 'serve')).toEqual(makeConfig(loadSettings({}).values, 'serve'));
  });
});
