import { sql } from 'kysely';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { purgePastes } from '../../../src/services/paste/purge-pastes.ts';
import { create, json } from '../../support/api.ts';
import { backends } from '../../support/databases.ts';
import { type PasteServer, startPasteServer } from '../../support/paste-server.ts';

const DAY_MS = 86_400_000;
const SATURDAY_NOON = Date.parse('2026-01-31T12:00:00.000Z');

describe.each(backends())('statistics on $name', (backend) => {
  let server: PasteServer;
  const stats = () => json(fetch(`${server.url}/api/stats`));

  beforeAll(async () => {
    server = await startPasteServer({ backend });
  });
  beforeEach(async () => {
    await sql`TRUNCATE paste, paste_language_count, paste_day_count`.execute(server.platform.database);
    server.clock.advance(SATURDAY_NOON - server.clock.now());
  });
  afterAll(() => server.close());

  test('begin with nothing', async () => {
    expect(await stats()).toEqual({ totalPastes: 0, pastesToday: 0, pastesThisWeek: 0, topLanguages: [] });
  });

  test('today begins at 00:00 UTC and the week on Monday', async () => {
    await create(server);
    server.clock.advance(DAY_MS / 2 - 1);
    await create(server);
    expect(await stats()).toMatchObject({ totalPastes: 2, pastesToday: 2, pastesThisWeek: 2 });
    server.clock.advance(1);
    expect(await stats()).toMatchObject({ totalPastes: 2, pastesToday: 0, pastesThisWeek: 2 });
    await create(server);
    server.clock.advance(DAY_MS);
    expect(await stats()).toMatchObject({ totalPastes: 3, pastesToday: 0, pastesThisWeek: 0 });
  });

  test('count what was created, though it expired, burned, was deleted or purged', async () => {
    const { pasteId, deleteToken } = await create(server, { expiresIn: '10min' });
    const burn = await create(server, { burnAfterRead: true });
    await create(server, { expiresIn: '10min' });
    await fetch(`${server.url}/api/pastes/${pasteId}?token=${deleteToken}`, { method: 'DELETE' });
    await fetch(`${server.url}/api/pastes/${burn.pasteId}`);
    server.clock.advance(600_000);
    expect(await purgePastes(server.platform, { command: 'a test' })).toEqual({
      pastes: 1,
      contentBytes: 5,
      complete: true,
    });
    expect(await stats()).toMatchObject({ totalPastes: 3, pastesToday: 3 });
  });

  test('name ten languages, by count and then by name', async () => {
    const languages = [
      'rust',
      'go',
      'python',
      'ruby',
      'java',
      'c',
      'sql',
      'css',
      'html',
      'json',
      'yaml',
      'toml',
    ];
    await Promise.all([...languages, 'yaml', 'rust', 'rust'].map((language) => create(server, { language })));
    const { topLanguages } = await stats();
    expect(topLanguages).toEqual([
      { language: 'rust', count: 3 },
      { language: 'yaml', count: 2 },
      ...['c', 'css', 'go', 'html', 'java', 'json', 'python', 'ruby'].map((language) => ({
        language,
        count: 1,
      })),
    ]);
  });

  test('count exactly under racing creations, and not what was refused', async () => {
    await create(server, { customId: 'taken-id' });
    await Promise.allSettled(
      Array.from({ length: 60 }, (_, index) => create(server, index % 3 ? {} : { customId: 'taken-id' })),
    );
    expect(await stats()).toMatchObject({
      totalPastes: 41,
      topLanguages: [{ language: 'plaintext', count: 41 }],
    });
  });
});
