// A link server for tests, and the API as they call it.
import { createLinkApp } from '../../src/server/links/app.ts';
import { post } from './api.ts';
import { startTestServer, type TestServer, type TestServerOptions } from './test-server.ts';

export type LinkServer = TestServer;

/** Starts a link server. */
export function startLinkServer(options: TestServerOptions = {}): Promise<LinkServer> {
  return startTestServer({ name: 'links', create: createLinkApp, origin: (config) => config.links }, options);
}

export interface CreatedLink {
  shortCode: string;
  shortUrl: string;
  deleteToken: string;
  expiresAt: string | null;
  hasPassword: boolean;
}

export const FIREFOX = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';

/** Creates a link; fails when the server does not. */
export async function createLink(
  server: { url: string },
  fields: Record<string, unknown> = {},
): Promise<CreatedLink> {
  const response = await post(server, '/api/links', { url: 'https://example.com/', ...fields });
  if (response.status !== 201) throw new Error(`${response.status} ${await response.text()}`);
  return response.json() as Promise<CreatedLink>;
}

/** Follows a short code as far as the redirect. */
export function follow(
  server: { url: string },
  shortCode: string,
  headers: Record<string, string> = {},
): Promise<Response> {
  return fetch(`${server.url}/${shortCode}`, {
    redirect: 'manual',
    headers: { 'user-agent': FIREFOX, ...headers },
  });
}
