// The reference client's own promises, without a server.
import { createHmac } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { verifyWebhook } from '../../src/client/index.ts';
import {
  decrypt,
  deriveKeys,
  encrypt,
  newKey,
  newKeyPair,
  newRecoveryKey,
  openSealed,
  ready,
  recoveryWrappingKey,
  sealTo,
} from '../../src/client/primitives.ts';

const FIELD = /^v1\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;
beforeAll(() => ready());

test('what is encrypted has the form that the server takes, and comes back whole', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), fc.string(), (plaintext, context) => {
      const key = newKey();
      const encrypted = encrypt(key, plaintext, context);
      expect(encrypted).toMatch(FIELD);
      expect(decrypt(key, encrypted, context)).toEqual(plaintext);
      expect(() => decrypt(newKey(), encrypted, context)).toThrow();
      expect(() => decrypt(key, encrypted, `${context}x`)).toThrow();
      const broken = encrypted.slice(0, -1) + (encrypted.endsWith('A') ? 'B' : 'A');
      expect(() => decrypt(key, broken, context)).toThrow();
    }),
  );
});

test('what is sealed to somebody opens for them alone', () => {
  const [ada, bob] = [newKeyPair(), newKeyPair()];
  const key = newKey();
  const sealed = sealTo(ada.publicKey, key);
  expect(sealed).toMatch(FIELD);
  expect(openSealed(ada, sealed)).toEqual(key);
  expect(() => openSealed(bob, sealed)).toThrow();
});

test('keys of a password depend on password and salt, and a weak derivation is refused', async () => {
  const kdf = { algorithm: 'argon2id', memoryKiB: 65_536, iterations: 3, parallelism: 4 } as const;
  const one = await deriveKeys('pässword', 'salt of sixteen b', kdf);
  expect(await deriveKeys('pa\u0308ssword', 'salt of sixteen b', kdf)).toEqual(one);
  expect(one.authHash).toMatch(/^[\w-]{43}$/);
  expect((await deriveKeys('pässword', 'another sixteen b', kdf)).authHash).not.toBe(one.authHash);
  expect(Buffer.from(one.wrappingKey).toString('base64url')).not.toBe(one.authHash);
  for (const weak of [{ memoryKiB: 8 }, { iterations: 1 }]) {
    await expect(deriveKeys('x', 'salt of sixteen b', { ...kdf, ...weak })).rejects.toThrow('weaker');
  }
});

test('a recovery key is the same however its groups are typed', async () => {
  const recoveryKey = newRecoveryKey();
  const typed = recoveryKey.toLowerCase().replaceAll('-', ' ');
  expect(await recoveryWrappingKey(typed)).toEqual(await recoveryWrappingKey(recoveryKey));
  expect(newRecoveryKey()).not.toBe(recoveryKey);
});

describe('the signature of a webhook', () => {
  const body = '{"verb":"CARD_MOVED"}';
  const secret = 'whsec_example';
  const now = 1_800_000_000_000;
  const sign = (key: string, time: number) =>
    createHmac('sha256', key).update(`${time}.${body}`).digest('hex');
  const t = now / 1000;

  test.each<[string, string, boolean]>([
    ['right', `t=${t},v1=${sign(secret, t)}`, true],
    ['right, behind one of a newer secret', `t=${t},v1=${sign('new', t)},v1=${sign(secret, t)}`, true],
    ['five minutes old', `t=${t - 300},v1=${sign(secret, t - 300)}`, true],
    ['older', `t=${t - 301},v1=${sign(secret, t - 301)}`, false],
    ['from the future', `t=${t + 301},v1=${sign(secret, t + 301)}`, false],
    ['of another secret', `t=${t},v1=${sign('other', t)}`, false],
    ['of another time', `t=${t - 1},v1=${sign(secret, t)}`, false],
    ['cut', `t=${t},v1=${sign(secret, t).slice(2)}`, false],
    ['none', '', false],
  ])('%s', async (_what, signature, valid) => {
    expect(await verifyWebhook({ body, signature, secret, now })).toBe(valid);
  });
});
