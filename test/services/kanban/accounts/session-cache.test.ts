// Sessions in memory, where the announcement of an end may not have come.
import { randomUUID } from 'node:crypto';
import { describe, expect, inject, test } from 'vitest';
import { connectRedis } from '../../../../src/platform/ephemeral/redis.ts';
import { createLog } from '../../../../src/platform/log.ts';
import type { Platform } from '../../../../src/platform/platform.ts';
import { openSessionCache } from '../../../../src/services/kanban/accounts/session-cache.ts';
import { cutPublications } from '../../../support/hang-redis.ts';
import { startRedis } from '../../../support/private-services.ts';
import { until } from '../../../support/serve.ts';

const session = { accountId: 'account', sessionId: 'session', createdAt: 0, lastUsedAt: 0 };

describe.skipIf(inject('redisServer') === '')(
  'a connection for publications that is lost for a moment',
  () => {
    test('is the end of what was remembered before, and of what was being read', async () => {
      const redis = await startRedis(inject('redisServer'));
      const log = await createLog({ level: 'silent' });
      const ephemeral = await connectRedis(redis.url, randomUUID(), log);
      const cache = await openSessionCache({ ephemeral, log } as unknown as Platform);
      // Nobody asks the cache meanwhile: it has to hear of it by itself.
      let resumed = 0;
      ephemeral.onResumed(() => resumed++);

      const readBefore = cache.generation;
      cache.set('remembered', session, readBefore);
      expect(cache.get('remembered')).toEqual(session);
      await cutPublications(redis.url);
      await until(() => resumed === 1);
      cache.set('being read', session, readBefore);
      expect([cache.get('remembered'), cache.get('being read')]).toEqual([undefined, undefined]);

      cache.set('remembered', session, cache.generation);
      expect(cache.get('remembered')).toEqual(session);
      await cache.close();
      await ephemeral.close();
      await redis.remove();
    });
  },
);
