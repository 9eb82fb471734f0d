// Requests that come between another's beginning and its end: a test holds a lock, lets them queue up behind it in an
// order of its own, and looks at what is left. On PostgreSQL, since the embedded database has one connection.
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { hashAddress } from '../../../src/platform/addresses.ts';
import { purgeAccounts } from '../../../src/services/kanban/accounts/purge-accounts.ts';
import { createAuthenticator } from '../../support/authenticator.ts';
import { backends, type TestDatabase } from '../../support/databases.ts';
import {
  type Answer,
  call,
  type Furnished,
  furnish,
  invite,
  join,
  type KanbanServer,
  type Person,
  sealed,
  startKanbanServer,
} from '../../support/kanban-server.ts';
import { openRival, type Rival } from '../../support/rival.ts';

const postgres = backends().find(({ name }) => name === 'PostgreSQL');

describe.runIf(postgres)('on PostgreSQL', () => {
  let database: TestDatabase;
  let server: KanbanServer;
  let rival: Rival;
  beforeAll(async () => {
    if (!postgres) return;
    database = await postgres.create();
    server = await startKanbanServer({ database });
    rival = await openRival(database);
  });
  afterEach(() => rival.release());
  afterAll(async () => {
    await rival.close();
    await server.close();
    await database.remove();
  });

  describe('nothing of an account outlives its deletion', () => {
    const left = async ({ id }: Person) => {
      const counts: Record<string, number> = {};
      for (const table of ['workspaceMember', 'webauthnCredential', 'accountAddress', 'session'] as const) {
        const rows = await server.platform.database
          .selectFrom(table)
          .select('accountId')
          .where('accountId', '=', id)
          .execute();
        if (rows.length > 0) counts[table] = rows.length;
      }
      return counts;
    };
    /** Begins something, then the deletion; lets both go on when both wait, or the deletion is done. */
    const overtake = async (person: Person, work: () => Promise<Answer>) => {
      const begun = work();
      await rival.untilWaiting(1);
      const deletion = await rival.startBeside(1, () => person.delete('/me'));
      await rival.release();
      const answers = { begun: (await begun).status, deletion: (await deletion.answer).status };
      expect(await left(person)).toEqual({});
      return answers;
    };

    test('no workspace that was being created', async () => {
      const person = await join(server);
      const workspaces = () => server.platform.database.selectFrom('workspace').select('id').execute();
      const before = await workspaces();
      await rival.hold('LOCK TABLE workspace IN SHARE MODE');
      const created = { encName: sealed('w'), encWorkspaceKey: sealed('mine') };
      const answers = await overtake(person, () => person.post('/workspaces', created));
      expect(answers).toEqual({ begun: 201, deletion: 202 });
      expect(await workspaces()).toEqual(before);
    });

    test('no credential that was being registered', async () => {
      const [person, other] = [await join(server), await join(server)];
      const authenticator = createAuthenticator({ origin: server.url });
      const registered = authenticator.register((await person.post('/auth/webauthn/register')).body);
      await rival.hold(
        `INSERT INTO webauthn_credential (id, account_id, credential_id, public_key, counter, transports, created_at)
        VALUES ('c', $1, $2, '', 0, '{}', now())`,
        [other.id, registered.id],
      );
      const answers = await overtake(person, () => person.post('/auth/webauthn/verify', registered));
      expect(answers).toEqual({ begun: 201, deletion: 202 });
    });

    test('no address that was signing in', async () => {
      const person = await join(server);
      const { database: own, secrets } = server.platform;
      await own.deleteFrom('accountAddress').where('accountId', '=', person.id).execute();
      await rival.hold(
        'INSERT INTO account_address (account_id, address_hash, signed_in_at) VALUES ($1, $2, now())',
        [person.id, hashAddress(secrets.addressKey, '127.0.0.1')],
      );
      const { email, authHash } = person;
      const answers = await overtake(person, () =>
        call(server, { method: 'POST', path: '/auth/login', json: { email, authHash } }),
      );
      expect(answers).toEqual({ begun: 200, deletion: 202 });
    });

    test('no membership that was being given; neither waits for the other', async () => {
      const home = await furnish(server);
      const member = await invite(server, home);
      await rival.hold('SELECT FROM workspace WHERE id = $1 FOR UPDATE', [home.workspaceId]);
      const invitation = { userId: member.id, encWorkspaceKey: sealed('key') };
      const answers = await overtake(member, () =>
        home.owner.post(`/workspaces/${home.workspaceId}/members`, invitation),
      );
      expect(answers).toEqual({ begun: 409, deletion: 202 });
    });
  });

  test('the purge takes workspaces along that have no member', async () => {
    const home = await furnish(server);
    const { database: own } = server.platform;
    await own.deleteFrom('workspaceMember').where('workspaceId', '=', home.workspaceId).execute();
    await purgeAccounts(server.platform, { command: 'a test' });
    const rows = await own.selectFrom('workspace').select('id').where('id', '=', home.workspaceId).execute();
    expect(rows).toEqual([]);
    expect(await own.selectFrom('board').select('id').where('id', '=', home.boardId).execute()).toEqual([]);
  });

  describe('rights that end while a change waits are not used', () => {
    const membership = ({ workspaceId }: Furnished, { id }: Person) =>
      `/workspaces/${workspaceId}/members/${id}`;
    const changes: Array<[string, (who: Person, home: Furnished) => Promise<Answer>]> = [
      [
        'a new card',
        (who, { columnId }) => who.post(`/columns/${columnId}/cards`, { encTitle: sealed('x') }),
      ],
      ['a change of a card', (who, { cardId }) => who.patch(`/cards/${cardId}`, { completed: true })],
      [
        'a change of the board',
        (who, { boardId }) => who.patch(`/boards/${boardId}`, { encName: sealed('x') }),
      ],
    ];

    test.each(changes)('%s by who is removed', async (_what, change) => {
      const home = await furnish(server);
      const member = await invite(server, home);
      await rival.hold('SELECT FROM board WHERE id = $1 FOR UPDATE', [home.boardId]);
      const removal = home.owner.delete(membership(home, member));
      await rival.untilWaiting(1);
      const { answer } = await rival.startBeside(1, () => change(member, home));
      await rival.release();
      expect([(await removal).status, (await answer).status]).toEqual([204, 404]);
      const { items } = (await home.owner.get(`/boards/${home.boardId}/activity`)).body;
      expect(items.filter(({ actorId }: { actorId: string }) => actorId === member.id)).toEqual([]);
    });

    test('a move by who is removed', async () => {
      const home = await furnish(server);
      const member = await invite(server, home);
      const column = await home.owner.post(`/boards/${home.boardId}/columns`, { encName: sealed('other') });
      await rival.hold('SELECT FROM board WHERE id = $1 FOR UPDATE', [home.boardId]);
      const removal = home.owner.delete(membership(home, member));
      await rival.untilWaiting(1);
      const move = () => member.patch(`/cards/${home.cardId}/move`, { toColumnId: column.body.id });
      const { answer } = await rival.startBeside(1, move);
      await rival.release();
      expect([(await removal).status, (await answer).status]).toEqual([204, 404]);
      expect((await home.owner.get(`/cards/${home.cardId}`)).body.columnId).toBe(home.columnId);
    });

    test('a new board by who is removed', async () => {
      const home = await furnish(server);
      const admin = await invite(server, home, 'admin');
      const path = `/workspaces/${home.workspaceId}`;
      await rival.hold('SELECT FROM workspace WHERE id = $1 FOR UPDATE', [home.workspaceId]);
      const removal = home.owner.delete(membership(home, admin));
      await rival.untilWaiting(1);
      const board = { encName: sealed('b'), encBoardKey: sealed('k') };
      const { answer } = await rival.startBeside(1, () => admin.post(`${path}/boards`, board));
      await rival.release();
      expect([(await removal).status, (await answer).status]).toEqual([204, 404]);
      expect((await home.owner.get(`${path}/boards`)).body.items).toHaveLength(1);
    });

    test('a change by who is removed with the whole workspace; neither waits for the other', async () => {
      const home = await furnish(server);
      const member = await invite(server, home);
      await rival.hold('SELECT FROM board WHERE id = $1 FOR UPDATE', [home.boardId]);
      const change = member.patch(`/cards/${home.cardId}`, { completed: true });
      await rival.untilWaiting(1);
      const { answer } = await rival.startBeside(1, () =>
        home.owner.delete(`/workspaces/${home.workspaceId}`),
      );
      await rival.release();
      expect([(await change).status, (await answer).status]).toEqual([200, 204]);
    });

    test('what was begun in a role comes before the end of that role', async () => {
      const home = await furnish(server);
      const admin = await invite(server, home, 'admin');
      await rival.hold('SELECT FROM board WHERE id = $1 FOR UPDATE', [home.boardId]);
      const deletion = admin.delete(`/boards/${home.boardId}`);
      await rival.untilWaiting(1);
      const demote = () => home.owner.patch(membership(home, admin), { role: 'member' });
      const { answer, isDone } = await rival.startBeside(1, demote);
      expect(isDone()).toBe(false);
      await rival.release();
      expect([(await deletion).status, (await answer).status]).toEqual([204, 200]);
    });

    test('what is begun while a role ends comes after that', async () => {
      const home = await furnish(server);
      const [admin, other] = [await invite(server, home, 'admin'), await invite(server, home)];
      // The demotion gets as far as the role, which the rival makes it wait for; the workspace it has.
      await rival.hold('SELECT FROM workspace_member WHERE account_id = $1 FOR UPDATE', [admin.id]);
      const demotion = home.owner.patch(membership(home, admin), { role: 'member' });
      await rival.untilWaiting(1);
      const removal = await rival.startBeside(1, () => admin.delete(membership(home, other)));
      const deletion = await rival.startBeside(2, () => admin.delete(`/boards/${home.boardId}`));
      await rival.release();
      expect([(await demotion).status, (await removal.answer).status]).toEqual([200, 403]);
      expect((await deletion.answer).status).toBe(403);
    });

    test('a change that another overtook is made after it', async () => {
      const home = await furnish(server);
      await rival.hold('UPDATE board SET last_seq = last_seq + 1 WHERE id = $1', [home.boardId]);
      const { columnId, owner } = home;
      const { answer } = await rival.startBeside(0, () =>
        owner.post(`/columns/${columnId}/cards`, { encTitle: sealed('x') }),
      );
      await rival.release('COMMIT');
      expect((await answer).status).toBe(201);
      const { items } = (await owner.get(`/boards/${home.boardId}/activity`)).body;
      // One number went to the rival.
      expect(items.map(({ seq }: { seq: number }) => seq)).toEqual([5, 3, 2, 1]);
    });
  });
});
