// The small things everything stands on.
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { VERSION } from '../../src/cli/version.ts';
import { addressIdentity, hashAddress } from '../../src/platform/addresses.ts';
import { Batcher } from '../../src/platform/batcher.ts';
import { isDatabaseUnavailable, withoutPassword } from '../../src/platform/database/unavailable.ts';
import { formatDuration, parseDuration } from '../../src/platform/duration.ts';
import { READABLE_ALPHABET, randomReadableId } from '../../src/platform/ids.ts';
import { createLog } from '../../src/platform/log.ts';
import { hashPassword, verifyPassword } from '../../src/platform/passwords.ts';
import { deriveSecrets, rootSecretOf } from '../../src/platform/secrets.ts';
import { createToken, hashToken, tokenMatches } from '../../src/platform/tokens.ts';

describe('durations', () => {
  test.each([
    ['90s', 90_000],
    ['15m', 900_000],
    ['24h', 86_400_000],
    ['30d', 2_592_000_000],
    ['2w', 1_209_600_000],
    ['5ms', 5],
  ])('%s', (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
    expect(parseDuration(formatDuration(ms))).toBe(ms);
  });
  test.each(['', '5', 's', '1.5h', '-1s', '1 h', '1y'])('"%s" is none', (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });
});

describe('addresses', () => {
  test.each([
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64'],
    ['2001:0DB8:1:2::1', '2001:db8:1:2::/64'],
    ['fe80::1%eth0', 'fe80:0:0:0::/64'],
  ])('%s counts as %s', (address, identity) => {
    expect(addressIdentity(address)).toBe(identity);
  });

  test('are hashed under a key: another secret, another hash', () => {
    const [one, two] = [deriveSecrets('one'.repeat(20)), deriveSecrets('two'.repeat(20))];
    expect(hashAddress(one.addressKey, '203.0.113.7')).toMatch(/^[\w-]{43}$/);
    expect(hashAddress(one.addressKey, '203.0.113.7')).toBe(
      hashAddress(one.addressKey, '::ffff:203.0.113.7'),
    );
    expect(hashAddress(one.addressKey, '203.0.113.7')).not.toBe(hashAddress(two.addressKey, '203.0.113.7'));
  });
});

test('readable ids have their length and no look-alikes, and each character comes up', () => {
  const text = Array.from({ length: 500 }, () => randomReadableId(10)).join('');
  expect(text).toHaveLength(5_000);
  expect(text).not.toMatch(/[0Oo1Iil]/);
  expect(new Set(text)).toEqual(new Set(READABLE_ALPHABET));
});

test('tokens match their own hash and nothing else', () => {
  const token = createToken('dk_');
  expect(token).toMatch(/^dk_[\w-]{43}$/);
  expect(tokenMatches(token, hashToken(token))).toBe(true);
  expect(tokenMatches(token, hashToken(createToken('dk_')))).toBe(false);
  expect(tokenMatches(token, undefined)).toBe(false);
});

test('passwords are Argon2id with at least 19 MiB and 2 passes', async () => {
  const hash = await hashPassword('pässwörd 😀');
  expect(hash).toMatch(/^\$argon2id\$v=19\$m=19456,p=1,t=2|^\$argon2id\$v=19\$m=19456,t=2,p=1/);
  expect(await verifyPassword(hash, 'pässwörd 😀')).toBe(true);
  expect(await verifyPassword(hash, 'passwort')).toBe(false);
});

describe('the root secret', () => {
  const folder = () => join(mkdtempSync(join(tmpdir(), 'svc-test-')), 'data');

  test('is made once, for its owner alone', () => {
    const dataDir = folder();
    const secret = rootSecretOf(dataDir);
    expect(secret).toMatch(/^[\w-]{43}$/);
    expect(rootSecretOf(dataDir)).toBe(secret);
    expect(statSync(join(dataDir, 'secret')).mode & 0o777).toBe(0o600);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
  });

  test('is one, whichever of several processes makes it', async () => {
    const dataDir = folder();
    const module = fileURLToPath(new URL('../../src/platform/secrets.ts', import.meta.url));
    const script = `import { rootSecretOf } from ${JSON.stringify(module)}; process.stdout.write(rootSecretOf(${JSON.stringify(dataDir)}));`;
    const secrets = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const child = spawn(process.execPath, ['--input-type=module', '-e', script]);
        let text = '';
        for await (const chunk of child.stdout) text += String(chunk);
        return text;
      }),
    );
    expect(new Set(secrets).size).toBe(1);
    expect(secrets[0]).toHaveLength(43);
  });

  test('that is damaged is refused rather than used', () => {
    const dataDir = folder();
    rootSecretOf(dataDir);
    writeFileSync(join(dataDir, 'secret'), 'short');
    expect(() => rootSecretOf(dataDir)).toThrow(/shorter than 32/);
  });
});

describe('the log', () => {
  test('masks what is secret, at the top and one level down', async () => {
    const lines: string[] = [];
    const log = await createLog({
      level: 'info',
      format: 'json',
      destination: { write: (line) => lines.push(line) },
    });
    const secrets = {
      password: 'hunter2',
      token: 'hunter2',
      deleteToken: 'hunter2',
      authorization: 'hunter2',
      content: 'hunter2',
      'x-paste-password': 'hunter2',
      cookie: 'hunter2',
    };
    log.info({ ...secrets, headers: secrets }, 'with secrets');
    log.info(
      { error: Object.assign(new Error('failed'), { detail: 'hunter2', where: 'hunter2' }) },
      'with a row in it',
    );
    log.info({ error: 'only its message' }, 'with a text');
    expect(lines).toHaveLength(3);
    expect(JSON.parse(lines[2] ?? '')).toMatchObject({ error: 'only its message' });
    expect(lines.join('')).not.toContain('hunter2');
    expect(JSON.parse(lines[0] ?? '')).toMatchObject({
      level: 'info',
      msg: 'with secrets',
      time: expect.any(String),
    });
  });
});

describe('batches', () => {
  test('give every item its own result, in batches of the allowed size, so many at once', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.integer(), { minLength: 1, maxLength: 60 }),
        fc.integer({ min: 1, max: 3 }),
        fc.integer({ min: 1, max: 7 }),
        async (items, concurrency, maxBatch) => {
          let [running, most] = [0, 0];
          const batcher = new Batcher<number, string>({
            concurrency,
            maxBatch,
            run: async (batch) => {
              expect(batch.length).toBeLessThanOrEqual(maxBatch);
              most = Math.max(most, ++running);
              await new Promise(setImmediate);
              running--;
              return batch.map((item) => `result ${item}`);
            },
          });
          expect(await Promise.all(items.map((item) => batcher.add(item)))).toEqual(
            items.map((item) => `result ${item}`),
          );
          expect(most).toBeLessThanOrEqual(concurrency);
          await batcher.drain();
        },
      ),
      { numRuns: 50 },
    );
  });

  test('keep to their bytes, and an item that is larger goes alone', async () => {
    const batches: number[][] = [];
    const batcher = new Batcher<number, number>({
      concurrency: 1,
      maxBatch: 10,
      size: { of: (item) => item, maxBytes: 100 },
      run: async (batch) => {
        batches.push(batch);
        return batch;
      },
    });
    await Promise.all([50, 40, 20, 500, 1].map((item) => batcher.add(item)));
    expect(batches).toEqual([[50, 40], [20], [500], [1]]);
  });

  test('that fail reject their own items only', async () => {
    const batcher = new Batcher<string, string>({
      concurrency: 1,
      maxBatch: 1,
      run: async ([item = '']) => {
        if (item === 'bad') throw new Error('this one');
        return [item];
      },
    });
    expect(await Promise.allSettled(['a', 'bad', 'b'].map((item) => batcher.add(item)))).toMatchObject([
      { value: 'a' },
      { reason: { message: 'this one' } },
      { value: 'b' },
    ]);
  });
});

describe('a database that is away', () => {
  test.each([
    { code: 'ECONNREFUSED' },
    { code: '57P01' },
    { code: '08006' },
    { code: '53100' },
    { message: 'Connection terminated unexpectedly' },
    { message: 'timeout exceeded when trying to connect' },
  ])('%o', (fields) => {
    expect(isDatabaseUnavailable(Object.assign(new Error('x'), fields))).toBe(true);
  });
  test.each([{ code: '23505' }, { code: '42601' }, { message: 'boom' }])('%o is something else', (fields) => {
    expect(isDatabaseUnavailable(Object.assign(new Error('x'), fields))).toBe(false);
  });
  test('is named without its password', () => {
    expect(withoutPassword('postgres://svc:hunter2@db:5432/svc?sslpassword=hunter2')).not.toContain(
      'hunter2',
    );
  });
  test('is named without any password of a list', () => {
    const shown = withoutPassword('redis://:hunter2@n1:6379,rediss://u:hunter2@n2,redis://:hunter2@n3');
    expect(shown).toBe('redis://:***@n1:6379,rediss://u:***@n2,redis://:***@n3');
  });
});

test('the version is the one of the package', () => {
  const { version } = JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8'));
  expect(VERSION).toBe(version);
});
