// Editing together and seeing each other, where the relay is slow, unreliable or full.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { applyUpdate, encodeStateAsUpdate } from 'yjs';
import {
  type DocumentOptions,
  openCardDocument,
  openPresence,
  type Presence,
  type SharedDocument,
} from '../../src/client/collaboration.ts';
import { BOARD, type FakeConnection, fakeRelay } from './fake-relay.ts';

type Relay = ReturnType<typeof fakeRelay>;

interface Editor extends SharedDocument {
  connection: FakeConnection;
  isSynced(): boolean;
  shown(): string;
}

const HAVE = 3;
const opened = new Set<SharedDocument | Presence>();
beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  for (const one of opened) one.close();
  opened.clear();
  vi.useRealTimers();
});

const pass = (ms: number) => vi.advanceTimersByTimeAsync(ms);

function anEditor(relay: Relay, initialText: string, options: DocumentOptions = {}): Editor {
  const connection = relay.connect();
  const shared = openCardDocument(connection, BOARD, 'card', { initialText, random: () => 0.5, ...options });
  opened.add(shared);
  let isSynced = false;
  shared.synced.then(() => {
    isSynced = true;
  });
  return { ...shared, connection, isSynced: () => isSynced, shown: () => shared.text.toString() };
}

/** Several who have the same document open; each answers at a time of their own. */
async function editors(relay: Relay, count: number, text: string): Promise<Editor[]> {
  const all: Editor[] = [];
  for (let index = 0; index < count; index++) {
    all.push(anEditor(relay, text, { random: () => ((index * 7) % count) / count }));
    await pass(2_000);
  }
  expect(all.every((editor) => editor.isSynced() && editor.shown() === text)).toBe(true);
  return all;
}

/** Numbers from 0 to 1 that are the same every time (mulberry32). */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let value = Math.imul(state ^ (state >>> 15), 1 | state);
    value = (value + Math.imul(value ^ (value >>> 7), 61 | value)) ^ value;
    return ((value ^ (value >>> 14)) >>> 0) / 2 ** 32;
  };
}

const shownBy = (all: Editor[]) => all.map((editor) => editor.shown());

describe('who opens a card that others have open', () => {
  test.each([0, 300, 600, 3_000])('gets their document, and not its own, over %i ms', async (latencyMs) => {
    const relay = fakeRelay({ latencyMs });
    const ada = anEditor(relay, 'first version');
    await pass(10_000);
    ada.text.delete(0, 'first'.length);
    ada.text.insert(0, 'second');
    const bob = anEditor(relay, 'second version');
    await pass(60_000);
    expect([ada.shown(), bob.shown(), bob.isSynced()]).toEqual(['second version', 'second version', true]);
  });

  test('waits for those who are silent, until they leave', async () => {
    const relay = fakeRelay();
    const ada = anEditor(relay, 'of Ada');
    await pass(100);
    ada.connection.hears = false;
    const bob = anEditor(relay, 'of Bob');
    await pass(50_000);
    expect([bob.isSynced(), bob.shown()]).toEqual([false, '']);
    ada.connection.lose();
    await pass(10);
    expect([bob.isSynced(), bob.shown()]).toEqual([true, 'of Bob']);
  });

  test('waits for those who are silent, until they speak', async () => {
    const relay = fakeRelay();
    const ada = anEditor(relay, 'of Ada');
    await pass(100);
    ada.connection.hears = false;
    const bob = anEditor(relay, 'of Bob');
    await pass(20_000);
    ada.connection.hears = true;
    await pass(20_000);
    expect([bob.isSynced(), bob.shown()]).toEqual([true, 'of Ada']);
  });

  test('waits a minute, and no longer, for those who live and cannot read it', async () => {
    const relay = fakeRelay();
    const ada = anEditor(relay, 'of Ada');
    await pass(100);
    ada.connection.hears = false;
    const bob = anEditor(relay, 'of Bob');
    await pass(59_000);
    expect(bob.isSynced()).toBe(false);
    await pass(2_000);
    expect([bob.isSynced(), bob.shown()]).toEqual([true, 'of Bob']);
  });

  test('gets a text that is empty by now', async () => {
    const relay = fakeRelay({ latencyMs: 50 });
    const ada = anEditor(relay, 'stored');
    await pass(1_000);
    ada.text.delete(0, ada.text.length);
    const bob = anEditor(relay, 'stored');
    await pass(1_000);
    expect([bob.isSynced(), bob.shown(), ada.shown()]).toEqual([true, '', '']);
  });

  test('keeps what was written into it before', async () => {
    const relay = fakeRelay({ latencyMs: 50 });
    const ada = anEditor(relay, 'stored');
    await pass(1_000);
    const bob = anEditor(relay, 'stored');
    bob.text.insert(0, 'early ');
    await pass(5_000);
    expect(ada.shown()).toBe(bob.shown());
    expect([...ada.shown()].sort()).toEqual([...'early stored'].sort());
  });
});

describe('several who open a card at once', () => {
  test.each([2, 3, 12])('begin with one text, where each of %i read another', async (count) => {
    const relay = fakeRelay({ latencyMs: 80 });
    relay.gather(count);
    const all = Array.from({ length: count }, (_, index) => anEditor(relay, `text ${index}`));
    await pass(5_000);
    expect(all.every((editor) => editor.isSynced())).toBe(true);
    expect(new Set(shownBy(all)).size).toBe(1);
    expect(all[0]?.shown()).toMatch(/^text \d+$/);
  });

  test('do not wait for one of them who goes', async () => {
    const relay = fakeRelay({ latencyMs: 80 });
    relay.gather(3);
    const all = ['one', 'two', 'three'].map((text) => anEditor(relay, text));
    await pass(170);
    all[0]?.connection.lose();
    await pass(5_000);
    const rest = all.slice(1);
    expect(rest.every((editor) => editor.isSynced())).toBe(true);
    expect(new Set(shownBy(rest)).size).toBe(1);
  });

  test('do not take the word of one who has left for that of one who is silent', async () => {
    const relay = fakeRelay();
    const ada = anEditor(relay, 'of Ada');
    await pass(100);
    ada.connection.hears = false;
    relay.gather(2);
    const [bob, cleo] = [anEditor(relay, 'of Bob'), anEditor(relay, 'of Cleo')];
    await pass(1_000);
    cleo.connection.lose();
    await pass(20_000);
    expect([bob.isSynced(), bob.shown()]).toEqual([false, '']);
    ada.connection.hears = true;
    await pass(20_000);
    expect([bob.isSynced(), bob.shown()]).toEqual([true, 'of Ada']);
  });

  test('begin alike where their relays do not see each other', async () => {
    const [ada, bob] = [anEditor(fakeRelay(), 'stored'), anEditor(fakeRelay(), 'stored')];
    await pass(100);
    applyUpdate(bob.doc, encodeStateAsUpdate(ada.doc));
    expect(shownBy([ada, bob])).toEqual(['stored', 'stored']);
  });
});

describe('a card that many have open', () => {
  const TEXT = 'x'.repeat(200_000);

  test('is sent once to who comes, and not by everybody', async () => {
    const relay = fakeRelay({ latencyMs: 20 });
    const all = await editors(relay, 30, TEXT);
    for (const { connection } of all) connection.receivedBytes = 0;
    const late = anEditor(relay, 'stored');
    await pass(10_000);
    expect(late.shown()).toBe(TEXT);
    const received = [late, ...all].map(({ connection }) => connection.receivedBytes);
    expect(Math.max(...received)).toBeLessThan(2 * TEXT.length);
  });

  test('is sent once to who reads slowly', async () => {
    const relay = fakeRelay({ latencyMs: 20, bytesPerSecond: 200_000 });
    const text = 'x'.repeat(4_000_000);
    const ada = anEditor(relay, text);
    await pass(100);
    const bob = anEditor(relay, text);
    await pass(120_000);
    expect(bob.shown()).toBe(text);
    expect(bob.connection.receivedBytes).toBeLessThan(1.1 * text.length);
    expect(ada.isSynced()).toBe(true);
  });

  test('is sent by another when who began to answer is gone', async () => {
    const relay = fakeRelay({ latencyMs: 20 });
    const all = await editors(relay, 5, 'text');
    for (const { connection } of all) connection.sent.length = 0;
    const late = anEditor(relay, 'stored');
    const isOffer = (payload: Uint8Array) => payload[0] === HAVE;
    let gone: Editor | undefined;
    while (!gone) {
      await pass(1);
      gone = all.find(({ connection }) => connection.sent.some(isOffer));
    }
    // What it offered never comes.
    gone.connection.lose();
    await pass(10_000);
    expect([late.isSynced(), late.shown()]).toEqual([true, 'text']);
  });

  test('falls silent once all have the same', async () => {
    const relay = fakeRelay({ latencyMs: 20 });
    const all = await editors(relay, 6, 'text');
    await pass(5_000);
    for (const { connection } of all) connection.sent.length = 0;
    await pass(120_000);
    expect(all.flatMap(({ connection }) => connection.sent)).toEqual([]);
  });

  test('is the same for all in the end, whatever happened', async () => {
    for (let seed = 1; seed <= 60; seed++) {
      const random = randomOf(seed);
      const below = (bound: number) => Math.floor(random() * bound);
      const relay = fakeRelay({ latencyMs: below(400) });
      const all: Editor[] = [];
      const away = new Set<Editor>();
      const add = () => all.push(anEditor(relay, `[${all.length}]`, { random }));
      const others = (one: Editor) => all.filter((other) => other !== one && !away.has(other));
      if (random() < 0.5) relay.gather(2 + below(3));
      for (let index = 0; index < 4; index++) add();
      for (let step = 0; step < 40; step++) {
        const one = all[below(all.length)] as Editor;
        const { text, connection } = one;
        const what = random();
        if (what < 0.4 && one.isSynced()) text.insert(below(text.length + 1), 'x');
        else if (what < 0.55 && one.isSynced() && text.length > 1) text.delete(below(text.length), 1);
        else if (what < 0.65 && all.length < 9) add();
        else if (what < 0.75 && away.delete(one)) connection.recover();
        // A document that nobody has open any more begins anew.
        else if (what < 0.75 && others(one).some((other) => other.isSynced())) {
          away.add(one);
          connection.lose();
        } else if (what < 0.85 && !away.has(one)) {
          [connection.speaks, connection.hears] = [false, random() < 0.5];
          if (one.isSynced()) text.insert(0, 'y');
          await pass(300);
          [connection.speaks, connection.hears] = [true, true];
          await pass(800);
          const [other] = others(one);
          if (other) connection.meet(other.connection);
        }
        await pass(below(1_500));
      }
      for (const { connection } of away) connection.recover();
      await pass(100_000);
      const outcome = { seed, synced: all.every((one) => one.isSynced()), texts: new Set(shownBy(all)).size };
      expect(outcome).toEqual({ seed, synced: true, texts: 1 });
      for (const one of all) one.close();
    }
  });
});

describe('who was apart', () => {
  test.each([
    ['wrote', ({ text }: Editor) => text.insert(0, 'more '), 'more text'],
    ['removed something', ({ text }: Editor) => text.delete(0, 2), 'xt'],
  ])('and %s is heard of, when only they saw the outage', async (_what, edit, expected) => {
    const relay = fakeRelay({ latencyMs: 20 });
    const [ada, bob] = (await editors(relay, 2, 'text')) as [Editor, Editor];
    ada.connection.speaks = false;
    edit(ada);
    await pass(100);
    ada.connection.speaks = true;
    ada.connection.meet(bob.connection);
    await pass(1_000);
    expect(shownBy([ada, bob])).toEqual([expected, expected]);
  });

  test('is heard of when they go on, though nobody saw the outage', async () => {
    const relay = fakeRelay({ latencyMs: 20 });
    const [ada, bob] = (await editors(relay, 2, 'text')) as [Editor, Editor];
    ada.connection.speaks = false;
    ada.text.insert(0, 'unheard ');
    await pass(100);
    ada.connection.speaks = true;
    ada.text.insert(0, 'heard ');
    await pass(3_000);
    expect(shownBy([ada, bob])).toEqual(['heard unheard text', 'heard unheard text']);
  });

  test('brings along what was written meanwhile, on both sides', async () => {
    const relay = fakeRelay({ latencyMs: 20 });
    const [ada, bob, cleo] = (await editors(relay, 3, 'text')) as [Editor, Editor, Editor];
    ada.connection.lose();
    ada.text.insert(0, 'Ada ');
    bob.text.insert(bob.text.length, ' Bob');
    await pass(1_000);
    ada.connection.recover();
    await pass(3_000);
    expect(shownBy([ada, bob, cleo])).toEqual(Array(3).fill('Ada text Bob'));
  });

  test('brings along what was removed, though those who lack that hear each other answer', async () => {
    const relay = fakeRelay({ latencyMs: 10 });
    const draws: number[] = [];
    const [ada, bob, cleo] = ['text', 'text', 'text'].map((text) =>
      anEditor(relay, text, { random: () => draws.shift() ?? 0.5 }),
    ) as [Editor, Editor, Editor];
    await pass(2_000);
    ada.connection.lose();
    ada.text.delete(0, 2);
    bob.text.insert(4, 's');
    await pass(1_000);
    // Two who greet; then two who answer at the same time, and ask later.
    draws.push(0.9, 0.9, 0.02, 0.98, 0.02, 0.98);
    ada.connection.recover();
    await pass(5_000);
    expect(shownBy([ada, bob, cleo])).toEqual(['xts', 'xts', 'xts']);
  });

  test('sees the others again at once', async () => {
    const relay = fakeRelay({ latencyMs: 20 });
    const people = ['Ada', 'Bob'].map((name) => {
      const connection = relay.connect();
      const presence = openPresence(connection, BOARD);
      opened.add(presence);
      presence.awareness.setLocalState({ name });
      const names = () => [...presence.awareness.getStates().values()].map((state) => state.name).sort();
      return { connection, names };
    });
    await pass(1_000);
    expect(people.map(({ names }) => names())).toEqual(Array(2).fill(['Ada', 'Bob']));
    people[0]?.connection.lose();
    expect(people[0]?.names()).toEqual(['Ada']);
    people[0]?.connection.recover();
    await pass(200);
    expect(people.map(({ names }) => names())).toEqual(Array(2).fill(['Ada', 'Bob']));
  });
});

test('what cannot be opened leaves nothing running', () => {
  const connection = fakeRelay().connect();
  connection.join = () => {
    throw new Error('open already');
  };
  expect(() => openCardDocument(connection, BOARD, 'card')).toThrow('open already');
  expect(() => openPresence(connection, BOARD)).toThrow('open already');
  expect(vi.getTimerCount()).toBe(0);
});
