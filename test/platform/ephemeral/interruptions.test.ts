// Connections to Redis that are lost for a moment: what was said meanwhile was heard by nobody, and everybody knows.
import { randomUUID } from 'node:crypto';
import { describe, expect, inject, test } from 'vitest';
import { connectRedis } from '../../../src/platform/ephemeral/redis.ts';
import { createLog } from '../../../src/platform/log.ts';
import { cutPublications, formCluster } from '../../support/hang-redis.ts';
import { startRedis } from '../../support/private-services.ts';
import { until } from '../../support/serve.ts';

const installation = randomUUID();

describe.skipIf(inject('redisServer') === '')(
  'a connection for publications that is lost for a moment',
  () => {
    test.each([
      ['Redis', []],
      ['a cluster', ['--cluster-enabled', 'yes', '--cluster-announce-ip', '127.0.0.1']],
    ])('to %s is counted, and whoever asks is told once messages arrive again', async (_, options) => {
      const redis = await startRedis(inject('redisServer'), options);
      if (options.length > 0) await formCluster(redis.url);
      // More than one address is a cluster.
      const url = options.length > 0 ? `${redis.url},${redis.url}` : redis.url;
      const log = await createLog({ level: 'silent' });
      const [store, other] = [
        await connectRedis(url, installation, log),
        await connectRedis(url, installation, log),
      ];
      const heard: string[] = [];
      const resumed: Array<{ delivering: boolean; interruptions: number }> = [];
      for (const channel of ['news', 'weather'])
        await store.subscribe(channel, (message) => heard.push(`${channel} ${message}`));
      const stop = store.onResumed(() =>
        resumed.push({ delivering: store.delivering, interruptions: store.interruptions }),
      );
      for (let time = 1; time <= 2; time++) {
        await cutPublications(redis.url);
        await until(() => resumed.length === time);
        expect(resumed.at(-1)).toEqual({ delivering: true, interruptions: time });
        await other.publish('news', String(time));
        await other.publish('weather', String(time));
        await until(() => heard.length === 2 * time);
        expect(heard.slice(-2).toSorted()).toEqual([`news ${time}`, `weather ${time}`]);
      }
      stop();
      await cutPublications(redis.url);
      await until(() => store.interruptions === 3 && store.delivering);
      expect(resumed).toHaveLength(2);
      await Promise.all([store.close(), other.close()]);
      await redis.remove();
    });
  },
);
