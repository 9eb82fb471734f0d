// A paste server for tests.
import { createPasteApp } from '../../src/server/paste/app.ts';
import { startTestServer, type TestServer, type TestServerOptions } from './test-server.ts';

export type PasteServer = TestServer;

/** Starts a paste server. */
export function startPasteServer(options: TestServerOptions = {}): Promise<PasteServer> {
  return startTestServer(
    { name: 'paste', create: createPasteApp, origin: (config) => config.paste },
    options,
  );
}
