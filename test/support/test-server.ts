// A server of one service that really listens, on a database of its own, with a clock that the test moves.
import type { FastifyInstance } from 'fastify';
import type { Config, Origin } from '../../src/platform/config/config.ts';
import type { Platform } from '../../src/platform/platform.ts';
import { listen } from '../../src/server/http/listen.ts';
import { type Backend, fastestBackend, type TestDatabase } from './databases.ts';
import { openTestPlatform, type TestPlatform } from './test-platform.ts';

export interface TestServer extends TestPlatform {
  /** Origin: `http://127.0.0.1:41234`. */
  url: string;
  app: FastifyInstance;
  close(): Promise<void>;
}

export interface TestServerOptions {
  backend?: Backend | undefined;
  /** A database that is there already, instead of a new one; it stays when the server is closed. */
  database?: TestDatabase | undefined;
  /** Settings beside those of the database; creation is unlimited unless they say otherwise. */
  settings?: Record<string, string> | undefined;
}

export interface ServiceUnderTest {
  name: string;
  create(options: { platform: Platform; version: string }): Promise<FastifyInstance>;
  origin(config: Config): Origin;
}

/** Starts a server, on the back end that is made fastest unless another is given. */
export async function startTestServer(
  service: ServiceUnderTest,
  { backend, database: shared, settings = {} }: TestServerOptions,
): Promise<TestServer> {
  const database = shared ?? (await (backend ?? fastestBackend()).create());
  const { platform, clock } = await openTestPlatform({
    database,
    settings: { RATE_LIMIT_CREATE_PER_HOUR: '0', ...settings },
  });
  const app = await service.create({ platform, version: '0.0.0-test' });
  const port = await listen(app, { host: '127.0.0.1', port: 0, service: service.name, portSetting: 'PORT' });
  const url = `http://127.0.0.1:${port}`;
  // Links in replies lead back here.
  service.origin(platform.config).url = url;
  return {
    url,
    app,
    platform,
    clock,
    close: async () => {
      await app.close();
      await platform.close();
      if (!shared) await database.remove();
    },
  };
}
