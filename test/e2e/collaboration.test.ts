// What lives, from end to end: two browsers at one encrypted card; a board's stream, webhooks and automations; in one
// process and in daemons of each kind, two of each.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type * as Client from '../../src/client/index.ts';
import { bundleClient } from '../support/client-bundle.ts';
import { backends, type TestDatabase } from '../support/databases.ts';
import { listen } from '../support/event-stream.ts';
import { furnish, sealed } from '../support/kanban-server.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { type ServedSvc, serveSvc, until } from '../support/serve.ts';
import { TEST_SECRET } from '../support/test-platform.ts';
import { startBrowser } from './browser.ts';

interface Served {
  /** Kanban APIs, and relays. */
  apis: string[];
  relays: string[];
  log(): string;
  end(): Promise<void>;
}

interface InPage {
  kanban: typeof Client;
  account: Client.Account;
  board: Client.OpenBoard;
  cardId: string;
  shared: Client.SharedDocument;
  presence: Client.Presence;
}

const chromium = inject('chromium');
const UNLIMITED = {
  KANBAN_RATE_LIMIT_LOGIN_PER_MINUTE: '0',
  KANBAN_RATE_LIMIT_REGISTER_PER_HOUR: '0',
  KANBAN_RATE_LIMIT_MUTATIONS_PER_MINUTE: '0',
  WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
};
const [SECRET_TEXT, MORE_TEXT] = ['Buy the moon', ' and the stars'];

async function serveOne(database: TestDatabase): Promise<Served> {
  const served = await serveSvc({ env: { ...UNLIMITED, ...database.settings }, args: ['--only', 'kanban'] });
  const relay = served.kanbanUrl.replace('http', 'ws');
  return {
    apis: [served.kanbanUrl, served.kanbanUrl],
    relays: [`${relay}/api/ws`, `${served.relayUrl.replace('http', 'ws')}/api/ws`],
    log: served.log,
    end: async () => {
      await served.end('SIGTERM');
    },
  };
}

async function serveDaemons(database: TestDatabase): Promise<Served> {
  const env = {
    ...UNLIMITED,
    ...database.settings,
    SVC_SECRET: TEST_SECRET,
    REDIS_URL: inject('redisUrl'),
  };
  const first = await serveSvc({ env, daemon: 'api', args: ['--only', 'kanban'] });
  // Pages come from the first: its address is the public one.
  const all = { ...env, KANBAN_URL: first.kanbanUrl };
  const others: ServedSvc[] = [];
  for (const daemon of ['api', 'relay', 'relay', 'scheduler', 'scheduler'] as const) {
    others.push(await serveSvc({ env: all, daemon, args: daemon === 'api' ? ['--only', 'kanban'] : [] }));
  }
  const [api, ...rest] = others as [ServedSvc, ...ServedSvc[]];
  return {
    apis: [first.kanbanUrl, api.kanbanUrl],
    relays: rest.slice(0, 2).map(({ relayUrl }) => `${relayUrl.replace('http', 'ws')}/api/ws`),
    log: () => [first, ...others].map((served) => served.log()).join(''),
    end: async () => {
      await Promise.all([first, ...others].map((served) => served.end('SIGTERM')));
    },
  };
}

const layouts = backends()
  .filter(({ name }) => name === 'embedded' || inject('redisUrl') !== '')
  .map((backend) => ({
    name: backend.name === 'embedded' ? 'svc serve' : 'daemons, two of each',
    backend,
    serve: backend.name === 'embedded' ? serveOne : serveDaemons,
  }));

let browser: Browser;
let bundle: string;
beforeAll(async () => {
  if (chromium !== '') [browser, bundle] = await Promise.all([startBrowser(chromium), bundleClient()]);
});
afterAll(() => browser?.close());

describe.each(layouts)('$name', ({ backend, serve }) => {
  let served: Served;
  let database: TestDatabase;
  let receiver: Receiver;
  beforeAll(async () => {
    [database, receiver] = [await backend.create(), await startReceiver()];
    served = await serve(database);
  });
  afterAll(async () => {
    await served?.end();
    await receiver?.close();
    await database?.remove();
  });

  describe.skipIf(chromium === '')('two browsers', () => {
    const traffic: string[] = [];

    /** A browser of somebody's own, with the client in it. */
    const openPage = async (): Promise<Page> => {
      const context = await browser.newContext();
      const page = await context.newPage();
      const origin = served.apis[0] ?? '';
      await page.route(`${origin}/app`, (route) =>
        route.fulfill({
          contentType: 'text/html',
          body: '<!doctype html><title>app</title><script type="module">import * as kanban from "/client.js"; globalThis.kanban = kanban;</script>',
        }),
      );
      await page.route(`${origin}/client.js`, (route) =>
        route.fulfill({ contentType: 'text/javascript', body: bundle }),
      );
      page.on('websocket', (socket) => {
        socket.on('framesent', ({ payload }) => traffic.push(payload.toString()));
        socket.on('framereceived', ({ payload }) => traffic.push(payload.toString()));
      });
      page.on('request', (request) => traffic.push(request.postData() ?? ''));
      await page.goto(`${origin}/app`);
      await page.waitForFunction(() => 'kanban' in globalThis);
      return page;
    };
    const shown = (page: Page) =>
      page.evaluate(() => (globalThis as unknown as InPage).shared.text.toString());

    test('edit one encrypted card and see each other, and the server sees neither', async () => {
      const [ada, bob] = await Promise.all([openPage(), openPage()]);
      const signIn =
        ([email, password]: string[]) =>
        async (page: Page) =>
          page.evaluate(
            async ([address, secret]) => {
              const inPage = globalThis as unknown as InPage;
              const options = { url: location.origin };
              await inPage.kanban.register(options, address ?? '', secret ?? '');
              inPage.account = await inPage.kanban.login(options, address ?? '', secret ?? '');
            },
            [email, password],
          );
      await Promise.all([
        signIn(['ada@example.org', 'correct horse'])(ada),
        signIn(['bob@example.org', 'battery staple'])(bob),
      ]);
      const { workspaceId, boardId, cardId } = await ada.evaluate(async (text) => {
        const inPage = globalThis as unknown as InPage;
        const { kanban, account } = inPage;
        const workspace = await kanban.createWorkspace(account, 'Ours');
        const board = await kanban.createBoard(account, workspace, 'Plans');
        const column = await account.transport.call<{ id: string }>('POST', `/boards/${board.id}/columns`, {
          encName: kanban.encryptField(board, 'column.name', 'Now'),
        });
        const card = await account.transport.call<{ id: string }>('POST', `/columns/${column.id}/cards`, {
          encTitle: kanban.encryptField(board, 'card.title', 'A card'),
          encDescription: kanban.encryptField(board, 'card.description', text),
        });
        await kanban.invite(account, workspace, await kanban.lookUp(account, 'bob@example.org'));
        return { workspaceId: workspace.id, boardId: board.id, cardId: card.id };
      }, SECRET_TEXT);

      const enter = (page: Page, relayUrl: string | undefined, name: string) =>
        page.evaluate(
          async ([workspace, boardOf, card, url, who]) => {
            const inPage = globalThis as unknown as InPage;
            const { kanban, account } = inPage;
            const opened = await kanban.openWorkspace(account, workspace ?? '');
            inPage.board = await kanban.openBoard(account, opened, boardOf ?? '');
            inPage.cardId = card ?? '';
            const read = await account.transport.call<{ encDescription: string }>('GET', `/cards/${card}`);
            const initialText = kanban.decryptField(inPage.board, 'card.description', read.encDescription);
            const relay = kanban.connectRelay(account, { url: url ?? '' });
            inPage.shared = kanban.openCardDocument(relay, inPage.board, card ?? '', { initialText });
            inPage.presence = kanban.openPresence(relay, inPage.board);
            inPage.presence.awareness.setLocalState({ name: who });
            await inPage.shared.synced;
          },
          [workspaceId, boardId, cardId, relayUrl ?? '', name],
        );
      await Promise.all([enter(ada, served.relays[0], 'Ada'), enter(bob, served.relays[1], 'Bob')]);
      expect(await Promise.all([shown(ada), shown(bob)])).toEqual([SECRET_TEXT, SECRET_TEXT]);

      // Both at once, at either end.
      const insert = (page: Page, where: 'start' | 'end', text: string) =>
        page.evaluate(
          ([place, what]) => {
            const { text: shared } = (globalThis as unknown as InPage).shared;
            shared.insert(place === 'start' ? 0 : shared.length, what);
          },
          [where, text] as const,
        );
      await Promise.all([insert(ada, 'start', '> '), insert(bob, 'end', MORE_TEXT)]);
      const expected = `> ${SECRET_TEXT}${MORE_TEXT}`;
      await until(async () => (await shown(ada)) === expected && (await shown(bob)) === expected);

      const names = (page: Page) =>
        page.evaluate(() =>
          [...(globalThis as unknown as InPage).presence.awareness.getStates().values()]
            .map(({ name }) => name)
            .sort(),
        );
      await until(
        async () => (await names(ada)).join() === 'Ada,Bob' && (await names(bob)).join() === 'Ada,Bob',
      );
      await bob.evaluate(() => (globalThis as unknown as InPage).presence.close());
      await until(async () => (await names(ada)).join() === 'Ada');

      // More than a frame holds.
      await insert(ada, 'start', 'x'.repeat(600_000));
      await until(async () => (await shown(bob)).length === expected.length + 600_000);

      // Who is removed is out of the room, and the others go on.
      await ada.evaluate(async (workspace) => {
        const { kanban, account } = globalThis as unknown as InPage;
        const opened = await kanban.openWorkspace(account, workspace);
        const found = await kanban.lookUp(account, 'bob@example.org');
        await kanban.removeMember(account, opened, found.id);
      }, workspaceId);
      await insert(ada, 'start', 'without Bob ');
      await expect(
        bob.evaluate(
          (card) => (globalThis as unknown as InPage).account.transport.call('GET', `/cards/${card}`),
          cardId,
        ),
      ).rejects.toThrow(/no such thing/);
      expect(await shown(bob)).not.toContain('without Bob');

      expect(traffic.length).toBeGreaterThan(20);
      const seen = traffic.join('\n') + served.log();
      for (const word of [SECRET_TEXT, MORE_TEXT.trim(), 'correct horse', 'without Bob'])
        expect(seen).not.toContain(word);
    });
  });

  test('a change through one API is told by the stream of the other, to webhooks, and to automations', async () => {
    const [one, other] = served.apis.map((url) => ({ url })) as [{ url: string }, { url: string }];
    const { owner, boardId, columnId, cardId } = await furnish(one);
    const stream = await listen(other, { boardId, cookie: owner.cookie });
    await until(() => stream.lastEventId() !== '');
    await owner.post(`/boards/${boardId}/automations`, {
      encName: sealed('a'),
      trigger: { verb: 'CARD_COMPLETED' },
      actions: [{ type: 'ARCHIVE' }],
    });
    await owner.post(`/boards/${boardId}/webhooks`, {
      url: `${receiver.url}/hook`,
      verbs: ['CARD_ARCHIVED'],
    });
    await owner.patch(`/cards/${cardId}`, { completed: true });
    const ticks = await stream.arrived(4);
    expect(ticks.map(({ data }) => data.verb)).toEqual([
      'AUTOMATION_CREATED',
      'WEBHOOK_CREATED',
      'CARD_COMPLETED',
      'CARD_ARCHIVED',
    ]);
    await until(() => receiver.received.length > 0);
    expect(JSON.parse(receiver.received[0]?.body ?? '')).toMatchObject({
      verb: 'CARD_ARCHIVED',
      boardId,
      cardId,
    });
    expect(columnId).toBeTruthy();
    stream.close();
    // Two schedulers, one delivery.
    await owner.post(`/columns/${columnId}/cards`, { encTitle: sealed('x') });
    expect(receiver.received).toHaveLength(1);
  });
});
