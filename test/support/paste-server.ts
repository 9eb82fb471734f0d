// A paste server for tests.
import { createPasteApp } from '../../src/server/paste/app.ts';
import { startTestServer, type TestServer, type TestServerOptions } from './test-server.ts';

export type PasteServer = TestServer;

/** Starts a paste server; embedded unless another back end is given. */
export function startPasteServer(options: TestServerOptions = {}): Promise<PasteServer> {
  return startTestServer(
    { name: 'paste', create: createPasteApp, origin: (config) => config.paste },
    options,
  );
}
