// A server that stops: nothing that runs is cut off from what it works with.
import { expect, test } from 'vitest';
import { createApp } from '../../../src/server/http/app.ts';
import { closeGracefully } from '../../../src/server/http/close.ts';
import { flatErrors } from '../../../src/server/http/error-shapes.ts';
import { listen } from '../../../src/server/http/listen.ts';
import { defineRoute } from '../../../src/server/http/route.ts';
import { fastestBackend } from '../../support/databases.ts';
import { openTestPlatform } from '../../support/test-platform.ts';

test('what runs for a client that went away ends before the server has stopped', async () => {
  const database = await fastestBackend().create();
  const { platform } = await openTestPlatform({ database });
  const begun = Promise.withResolvers<void>();
  const mayEnd = Promise.withResolvers<void>();
  const slow = defineRoute({
    method: 'GET',
    path: '/slow',
    operationId: 'slow',
    summary: 'Takes its time',
    replies: { 204: { description: 'Done.' } },
    handler: async () => {
      begun.resolve();
      await mayEnd.promise;
      return { status: 204 };
    },
  });
  const app = await createApp({
    platform,
    service: 'paste',
    errors: flatErrors,
    api: [slow],
    site: [],
  });
  try {
    const port = await listen(app, {
      host: '127.0.0.1',
      port: 0,
      service: 'paste',
      portSetting: 'PASTE_PORT',
    });
    const leaving = new AbortController();
    const asked = fetch(`http://127.0.0.1:${port}/api/slow`, { signal: leaving.signal });
    await begun.promise;
    leaving.abort();
    await expect(asked).rejects.toThrow();
    let hasStopped = false;
    const stopping = closeGracefully(app).then(() => {
      hasStopped = true;
    });
    await app.close();
    await new Promise(setImmediate);
    expect(hasStopped).toBe(false);
    mayEnd.resolve();
    await stopping;
  } finally {
    await platform.close();
    await database.remove();
  }
});
