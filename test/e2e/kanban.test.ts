// Two people and a shared board, with real cryptography, against the real command; and no word of theirs reaches it.
import { sql } from 'kysely';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import * as kanban from '../../src/client/index.ts';
import { makeConfig } from '../../src/platform/config/config.ts';
import { loadSettings } from '../../src/platform/config/load.ts';
import { createLog } from '../../src/platform/log.ts';
import { openPlatform } from '../../src/platform/platform.ts';
import { backends, type TestDatabase } from '../support/databases.ts';
import { type ServedSvc, serveSvc } from '../support/serve.ts';
import { TEST_SECRET } from '../support/test-platform.ts';

const PASSWORDS = ['correct horse battery', 'staple of the second', 'after the recovery'];
const WORDS = [
  'Wörkspace of Ada',
  'Roadmap 2027',
  'Backlog',
  'Buy the moon',
  'Secret ingredient: basil',
  'Bob says hello',
  'After the rotation',
];
const UNLIMITED = {
  KANBAN_RATE_LIMIT_LOGIN_PER_MINUTE: '0',
  KANBAN_RATE_LIMIT_REGISTER_PER_HOUR: '0',
  KANBAN_RATE_LIMIT_MUTATIONS_PER_MINUTE: '0',
};

describe.each(backends())('on $name', (backend) => {
  let served: ServedSvc;
  let database: TestDatabase;
  let env: Record<string, string>;
  const traffic: string[] = [];
  beforeAll(async () => {
    database = await backend.create();
    const redis =
      backend.name === 'PostgreSQL' && inject('redisUrl') !== '' ? { REDIS_URL: inject('redisUrl') } : {};
    env = { SVC_SECRET: TEST_SECRET, ...database.settings, ...redis };
    served = await serveSvc({ env: { ...UNLIMITED, ...env }, args: ['--only', 'kanban', '--no-scheduler'] });
  });
  afterAll(async () => {
    await served.end('SIGTERM');
    await database.remove();
  });

  const options = (): kanban.TransportOptions => ({
    url: served.kanbanUrl,
    fetch: async (input, init) => {
      const response = await fetch(input, init);
      traffic.push(`${String(input)} ${String(init?.body ?? '')} ${await response.clone().text()}`);
      return response;
    },
  });

  test('two people share a board; one leaves, the keys change, and a lost password is got over', async () => {
    const [workspaceName, boardName, columnName, title, description, hello, later] = WORDS as [
      string,
      string,
      string,
      string,
      string,
      string,
      string,
    ];
    const [adaPassword, bobPassword, newPassword] = PASSWORDS as [string, string, string];
    const { recoveryKey } = await kanban.register(options(), 'ada@example.org', adaPassword);
    expect(recoveryKey).toMatch(/^([2-9A-HJ-NP-Z]{4}-){7}[2-9A-HJ-NP-Z]{4}$/);
    await kanban.register(options(), 'bob@example.org', bobPassword);
    await expect(kanban.login(options(), 'ada@example.org', 'wrong')).rejects.toMatchObject({
      code: 'INVALID_CREDENTIALS',
    });
    const ada = await kanban.login(options(), 'ada@example.org', adaPassword);
    const bob = await kanban.login(options(), 'bob@example.org', bobPassword);

    const workspace = await kanban.createWorkspace(ada, workspaceName);
    const board = await kanban.createBoard(ada, workspace, boardName);
    const column = await ada.transport.call<{ id: string }>('POST', `/boards/${board.id}/columns`, {
      encName: kanban.encryptField(board, 'column.name', columnName),
    });
    const card = await ada.transport.call<{ id: string }>('POST', `/columns/${column.id}/cards`, {
      encTitle: kanban.encryptField(board, 'card.title', title),
      encDescription: kanban.encryptField(board, 'card.description', description),
    });
    await expect(kanban.openWorkspace(bob, workspace.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });

    const found = await kanban.lookUp(ada, 'BOB@example.org');
    expect(kanban.fingerprint(found.publicKey)).toBe(kanban.fingerprint(bob.keys.publicKey));
    await kanban.invite(ada, workspace, found);
    const [shared] = await kanban.listWorkspaces(bob);
    if (!shared) throw new Error('Bob sees no workspace');
    expect(shared).toMatchObject({ name: workspaceName, role: 'member' });
    const [theirs] = await kanban.listBoards(bob, shared);
    if (!theirs) throw new Error('Bob sees no board');
    expect(theirs.name).toBe(boardName);
    const read = await bob.transport.call<Record<string, string>>('GET', `/cards/${card.id}`);
    expect(kanban.decryptField(theirs, 'card.title', read.encTitle ?? '')).toBe(title);
    expect(kanban.decryptField(theirs, 'card.description', read.encDescription ?? '')).toBe(description);
    // A field cannot be passed off as another.
    expect(() => kanban.decryptField(theirs, 'card.description', read.encTitle ?? '')).toThrow();
    await bob.transport.call('POST', `/cards/${card.id}/comments`, {
      encBody: kanban.encryptField(theirs, 'comment.body', hello),
    });

    const rotated = await kanban.removeMember(ada, workspace, bob.userId);
    expect(rotated).toMatchObject({ name: workspaceName, keyEpoch: 2, rotationDue: false });
    await expect(kanban.openWorkspace(bob, workspace.id)).rejects.toMatchObject({ code: 'NOT_FOUND' });
    const reopened = await kanban.openBoard(ada, rotated, board.id);
    expect([...reopened.keys.keys()]).toEqual([1, 2]);
    const encTitle = kanban.encryptField(reopened, 'card.title', later);
    await ada.transport.call('PATCH', `/cards/${card.id}`, { encTitle });
    // What Bob knows opens what he could read, and nothing since.
    expect(kanban.decryptField(theirs, 'card.title', read.encTitle ?? '')).toBe(title);
    expect(() => kanban.decryptField(theirs, 'card.title', encTitle)).toThrow('no key');

    await expect(
      kanban.recover(
        options(),
        'ada@example.org',
        `${recoveryKey.slice(0, -1)}${recoveryKey.endsWith('2') ? '3' : '2'}`,
        'x',
      ),
    ).rejects.toThrow();
    await kanban.recover(
      options(),
      'ada@example.org',
      recoveryKey.toLowerCase().replaceAll('-', ' '),
      newPassword,
    );
    await expect(ada.transport.call('GET', '/me')).rejects.toMatchObject({ code: 'UNAUTHENTICATED' });
    await expect(kanban.login(options(), 'ada@example.org', adaPassword)).rejects.toMatchObject({
      code: 'INVALID_CREDENTIALS',
    });
    const onNewDevice = await kanban.login(options(), 'ada@example.org', newPassword);
    const again = await kanban.openWorkspace(onNewDevice, workspace.id);
    const boardAgain = await kanban.openBoard(onNewDevice, again, board.id);
    const cardAgain = await onNewDevice.transport.call<{
      encTitle: string;
      comments: Array<{ encBody: string }>;
    }>('GET', `/cards/${card.id}`);
    expect(kanban.decryptField(boardAgain, 'card.title', cardAgain.encTitle)).toBe(later);
    expect(kanban.decryptField(boardAgain, 'comment.body', cardAgain.comments[0]?.encBody ?? '')).toBe(hello);
  });

  test('no word of theirs is in the traffic, in the database or in the log', async () => {
    expect(traffic.length).toBeGreaterThan(30);
    const dump = [...traffic, served.log(), ...(await everyRow())].join('\n');
    expect(dump).toContain('ada@example.org');
    for (const secret of [...WORDS, ...PASSWORDS]) {
      const spellings = [secret, JSON.stringify(secret).slice(1, -1), encodeURIComponent(secret)];
      const bytes = Buffer.from(secret);
      spellings.push(
        bytes.toString('hex'),
        bytes.toString('base64').slice(0, -4),
        bytes.toString('base64url').slice(0, -4),
      );
      for (const spelling of spellings) expect(dump.includes(spelling), spelling).toBe(false);
    }
  });

  /** Every row of every table, as text. */
  async function everyRow(): Promise<string[]> {
    const { values } = loadSettings({ environment: env });
    await using platform = await openPlatform({
      config: makeConfig(values, 'command'),
      command: 'a test',
      log: await createLog({ level: 'silent' }),
    });
    const { rows: tables } = await sql<{ name: string }>`
      SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public'`.execute(platform.database);
    const texts: string[] = [];
    for (const { name } of tables) {
      const { rows } = await sql<{
        text: string;
      }>`SELECT t::text AS text FROM ${sql.table(name)} AS t`.execute(platform.database);
      texts.push(...rows.map(({ text }) => text));
    }
    return texts;
  }
});
