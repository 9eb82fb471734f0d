// Link services for tests that need no HTTP: several of them may stand for several processes over one database.
import { inject } from 'vitest';
import type { Platform } from '../../src/platform/platform.ts';
import type { Click } from '../../src/services/links/clicks/click.ts';
import { createLink } from '../../src/services/links/create-link.ts';
import { type LinkService, openLinkService } from '../../src/services/links/link-service.ts';
import type { Backend, TestDatabase } from './databases.ts';
import { openTestPlatform, TestClock } from './test-platform.ts';

export interface LinkProcesses {
  database: TestDatabase;
  clock: TestClock;
  services: LinkService[];
  close(): Promise<void>;
}

/** Opens link services over one database; with Redis, when there are to be several processes or a test asks for it. */
export async function openLinkServices(
  backend: Backend,
  { count = 1, settings = {} }: { count?: number; settings?: Record<string, string> } = {},
): Promise<LinkProcesses> {
  const database = await backend.create();
  const clock = new TestClock();
  const platforms: Platform[] = [];
  for (let index = 0; index < count; index++) {
    platforms.push((await openTestPlatform({ database, settings, clock })).platform);
  }
  const services: LinkService[] = [];
  for (const platform of platforms) services.push(await openLinkService(platform));
  return {
    database,
    clock,
    services,
    close: async () => {
      for (const service of services) await service.close();
      for (const platform of platforms.reverse()) await platform.close();
      await database.remove();
    },
  };
}

/** Settings that lead to the tests' Redis under a secret of the test's own, so that nobody else's clicks get in. */
export function ownRedis(secret: string): Record<string, string> {
  return { REDIS_URL: inject('redisUrl'), SVC_SECRET: `${secret} `.padEnd(40, '.') };
}

/** Makes a link; answers its key and code. */
export async function makeLink(service: LinkService, url = 'https://example.com/') {
  const created = await createLink(service, { url });
  const { linkKey } = await service.platform.database
    .selectFrom('link')
    .select('linkKey')
    .where('shortCode', '=', created.shortCode)
    .executeTakeFirstOrThrow();
  return { ...created, linkKey };
}

/** A click of a link, by Firefox on Linux unless a test says otherwise. */
export function aClick(linkKey: number, clickedAt: number, fields: Partial<Click> = {}): Click {
  return {
    linkKey,
    clickedAt,
    browser: 'Firefox',
    operatingSystem: 'Linux',
    device: 'Desktop',
    referrerHost: 'Direct',
    addressHash: 'somebody',
    ...fields,
  };
}
