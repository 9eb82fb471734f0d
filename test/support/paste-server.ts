// A paste server that really listens, on a database of its own, with a clock that the test moves.
import type { FastifyInstance } from 'fastify';
import { listen } from '../../src/server/http/listen.ts';
import { createPasteApp } from '../../src/server/paste/app.ts';
import { type Backend, backends } from './databases.ts';
import { openTestPlatform, type TestPlatform } from './test-platform.ts';

export interface PasteServer extends TestPlatform {
  /** Origin: `http://127.0.0.1:41234`. */
  url: string;
  app: FastifyInstance;
  close(): Promise<void>;
}

export interface PasteServerOptions {
  backend?: Backend;
  /** Settings beside those of the database; creation is unlimited unless they say otherwise. */
  settings?: Record<string, string>;
}

/** Starts a paste server; embedded unless another back end is given. */
export async function startPasteServer({
  backend,
  settings = {},
}: PasteServerOptions = {}): Promise<PasteServer> {
  const database = await (backend ?? backends()[0] ?? raise()).create();
  const { platform, clock } = await openTestPlatform({
    database,
    settings: { PASTE_RATE_LIMIT_CREATE_PER_HOUR: '0', ...settings },
  });
  const app = await createPasteApp({ platform, version: '0.0.0-test' });
  const port = await listen(app, { host: '127.0.0.1', port: 0, service: 'paste', portSetting: 'PASTE_PORT' });
  const url = `http://127.0.0.1:${port}`;
  // Links in replies lead back here.
  platform.config.paste.url = url;
  return {
    url,
    app,
    platform,
    clock,
    close: async () => {
      await app.close();
      await platform.close();
      await database.remove();
    },
  };
}

function raise(): never {
  throw new Error('there is no back end');
}
