// What lives, from end to end: two browsers at one encrypted card; a board's stream, webhooks and automations; in one
// process and in daemons of each kind, two of each.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, inject, test } from 'vitest';
import type * as Client from '../../src/client/index.ts';
import { bundleClient } from '../support/client-bundle.ts';
import type { TestDatabase } from '../support/databases.ts';
import { listen } from '../support/event-stream.ts';
import { call, furnish, type Json, sealed } from '../support/kanban-server.ts';
import { type Receiver, startReceiver } from '../support/receiver.ts';
import { until } from '../support/serve.ts';
import { layouts, type ServedLayout } from '../support/serve-layouts.ts';
import { startBrowser } from './browser.ts';

interface InPage {
  kanban: typeof Client;
  account: Client.Account;
  board: Client.OpenBoard;
  cardId: string;
  relay: Client.RelayConnection;
  shared: Client.SharedDocument;
  /** The same document over another relay. */
  witness: Client.SharedDocument;
  presence: Client.Presence;
}

const chromium = inject('chromium');
const [SECRET_TEXT, MORE_TEXT] = ['Buy the moon', ' and the stars'];

let browser: Browser;
let bundle: string;
beforeAll(async () => {
  if (chromium !== '') [browser, bundle] = await Promise.all([startBrowser(chromium), bundleClient()]);
});
afterAll(() => browser?.close());

describe.each(layouts())('$name', ({ backend, serve }) => {
  let served: ServedLayout;
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
    /** What relays said to each page, in its order. */
    const heard = new Map<Page, string[]>();

    /** A browser of somebody's own, with the client in it. */
    const openPage = async (): Promise<Page> => {
      const context = await browser.newContext();
      const page = await context.newPage();
      const frames: string[] = [];
      heard.set(page, frames);
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
        socket.on('framereceived', ({ payload }) => {
          traffic.push(payload.toString());
          frames.push(payload.toString());
        });
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
            inPage.relay = relay;
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
      const toBob = heard.get(bob) ?? [];
      const says = (type: string, room: string) => (frame: string) =>
        frame.startsWith('{') && frame.includes(`"${type}"`) && frame.includes(`"${room}"`);
      const isOut = says('ACCESS_ENDED', `card:${cardId}`);
      await until(() => toBob.some(isOut));
      // What one of a room hears over Bob's relay was handed to everybody whom that relay has in the room.
      await ada.evaluate(
        async ([card, url]) => {
          const inPage = globalThis as unknown as InPage;
          const relay = inPage.kanban.connectRelay(inPage.account, { url });
          inPage.witness = inPage.kanban.openCardDocument(relay, inPage.board, card);
          await inPage.witness.synced;
        },
        [cardId, served.relays[1] ?? ''] as const,
      );
      await insert(ada, 'start', 'without Bob ');
      await until(() =>
        ada.evaluate(() => (globalThis as unknown as InPage).witness.text.toString().startsWith('without')),
      );
      // What Bob's connection is told now comes after all that it was told before.
      const ownBoardId = await bob.evaluate(async () => {
        const { kanban, account, relay } = globalThis as unknown as InPage;
        const board = await kanban.createBoard(account, await kanban.createWorkspace(account, 'Own'), 'Own');
        kanban.openPresence(relay, board);
        return board.id;
      });
      await until(() => toBob.some(says('joined', `board:${ownBoardId}`)));
      const isOfCard = (frame: string) => frame.slice(1).startsWith(`card:${cardId}`);
      const out = toBob.findIndex(isOut);
      expect(toBob.slice(0, out).some(isOfCard)).toBe(true);
      expect(toBob.slice(out).filter(isOfCard)).toEqual([]);
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
    const webhook = await owner.post(`/boards/${boardId}/webhooks`, {
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
    stream.close();

    // Two schedulers, one dispatcher: whatever is told is told once.
    const api = (index: number) => served.apis[index % served.apis.length] ?? '';
    const archive = async (index: number): Promise<string> => {
      const { body } = await owner.post(`/columns/${columnId}/cards`, { encTitle: sealed('x') });
      const answer = await call(
        { url: api(index) },
        {
          method: 'PATCH',
          path: `/cards/${body.id}`,
          json: { archived: true },
          headers: { cookie: owner.cookie },
        },
      );
      expect(answer.status).toBe(200);
      return body.id;
    };
    const toldOf = () => receiver.received.map(({ body }) => JSON.parse(body).cardId);
    const cards = [cardId];
    for (let index = 0; index < 12; index++) cards.push(await archive(index));
    const listed = async () => (await owner.get(`/webhooks/${webhook.body.id}/deliveries`)).body.items;
    const areDelivered = async () => {
      const deliveries: Json[] = await listed();
      return deliveries.length === cards.length && deliveries.every(({ status }) => status === 'delivered');
    };
    await until(areDelivered);
    // Nobody begins one of these any more; what was under way a second time has come when a later one has.
    cards.push(await archive(0));
    await until(areDelivered);
    expect(toldOf().sort()).toEqual([...cards].sort());
    expect(new Set(receiver.received.map(({ headers }) => headers['x-app-delivery-id'])).size).toBe(
      cards.length,
    );
    expect((await listed()).map(({ attempts }: Json) => attempts.length)).toEqual(cards.map(() => 1));
  });
});
