// Rooms over several processes, some of which do not hear or cannot speak for a while.
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Platform } from '../../../src/platform/platform.ts';
import { type Member, openRooms, type Room, type Rooms } from '../../../src/server/relay/rooms.ts';

/** What one process has of a bus that all share, with faults. */
class Line {
  delivering = true;
  interruptions = 0;
  /** Whether what it says fails, or is lost without a word. */
  speech: 'fine' | 'fails' | 'lost' = 'fine';
  isDeaf = false;
  readonly #bus: Bus;
  readonly #resumed = new Set<() => void>();

  constructor(bus: Bus) {
    this.#bus = bus;
  }

  /** The connection that it hears by is lost; it is back with `reconnect`. */
  disconnect(): void {
    this.interruptions++;
    this.delivering = false;
    this.isDeaf = true;
  }

  reconnect(): void {
    this.isDeaf = false;
    this.delivering = true;
    for (const handler of this.#resumed) handler();
  }

  async publish(channel: string, message: string): Promise<void> {
    if (this.speech === 'fails') throw new Error('Redis is away');
    if (this.speech === 'lost') return;
    for (const [line, handler] of [...(this.#bus.get(channel) ?? [])]) if (!line.isDeaf) handler(message);
  }

  announce(channel: string, message: string): Promise<void> {
    return this.publish(channel, message);
  }

  async subscribe(channel: string, handler: (message: string) => void): Promise<() => Promise<void>> {
    const subscribers = this.#bus.get(channel) ?? new Set();
    const own: [Line, typeof handler] = [this, handler];
    this.#bus.set(channel, subscribers.add(own));
    return async () => {
      subscribers.delete(own);
    };
  }

  onResumed(handler: () => void): () => void {
    this.#resumed.add(handler);
    return () => this.#resumed.delete(handler);
  }
}
type Bus = Map<string, Set<[Line, (message: string) => void]>>;

interface Guest extends Member {
  room: Room;
  peers: string[];
  /** `+peer`, `-peer` and the frames, in the order in which they came; taken by asking. */
  heard(): string[];
}

let bus: Bus;
const opened: Rooms[] = [];
beforeEach(() => {
  vi.useFakeTimers();
  bus = new Map();
});
afterEach(async () => {
  await Promise.all(opened.splice(0).map((rooms) => rooms.close()));
  vi.useRealTimers();
});

const seconds = (count: number) => vi.advanceTimersByTimeAsync(count * 1_000);

async function startProcess() {
  const line = new Line(bus);
  const platform = { ephemeral: line, log: { debug: () => undefined } };
  const rooms = await openRooms(platform as unknown as Pick<Platform, 'ephemeral' | 'log'>);
  opened.push(rooms);
  const enter = async (peer: string, name = 'board:x'): Promise<Guest> => {
    let heard: string[] = [];
    const member: Member = {
      peer,
      send: (frame) => {
        const text = frame.subarray(2).toString();
        const message = text.startsWith('{') ? JSON.parse(text) : undefined;
        heard.push(message ? `${message.type === 'peer-joined' ? '+' : '-'}${message.peer}` : text);
      },
    };
    const { room, peers } = await rooms.join(name, 'x', member);
    return Object.assign(member, {
      room,
      peers,
      heard: () => {
        const taken = heard;
        heard = [];
        return taken;
      },
    });
  };
  return { line, rooms, enter };
}

describe('two processes, and guests of each', () => {
  let A: Awaited<ReturnType<typeof startProcess>>;
  let B: Awaited<ReturnType<typeof startProcess>>;
  let a: Guest;
  let b: Guest;
  beforeEach(async () => {
    [A, B] = [await startProcess(), await startProcess()];
    [a, b] = [await A.enter('a'), await B.enter('b')];
    await seconds(3);
    expect([a.heard(), b.peers]).toEqual([['+b'], ['a']]);
    b.heard();
  });

  /** Both have met anew, once, and hear each other. */
  const haveMetAnew = async () => {
    expect([a.heard(), b.heard()]).toEqual([
      ['-b', '+b'],
      ['-a', '+a'],
    ]);
    A.rooms.relay(a.room, a, Buffer.from('from a'));
    B.rooms.relay(b.room, b, Buffer.from('from b'));
    await seconds(0);
    expect([a.heard(), b.heard()]).toEqual([['from b'], ['from a']]);
  };

  test.each(['last', 'one of two'])(
    'a leave that could not be told leaves no ghost: the %s',
    async (which) => {
      const other = await A.enter('other');
      await seconds(0);
      for (const guest of [a, b, other]) guest.heard();
      A.line.speech = 'fails';
      A.rooms.leave(a.room, a);
      if (which === 'last') A.rooms.leave(other.room, other);
      await seconds(3);
      A.line.speech = 'fine';
      await seconds(3);
      const left = ['-a', '-other'];
      expect(b.heard().toSorted()).toEqual(which === 'last' ? left : ['+other', ...left].toSorted());
      expect((await B.enter('late')).peers).toEqual(which === 'last' ? ['b'] : ['b', 'other']);
    },
  );

  test('a frame that could not be told makes both meet anew', async () => {
    A.line.speech = 'fails';
    A.rooms.relay(a.room, a, Buffer.from('lost'));
    await seconds(0.5);
    A.line.speech = 'fine';
    await seconds(2);
    await haveMetAnew();
  });

  test('a leave that was not heard leaves no ghost', async () => {
    const left = await A.enter('left');
    const elsewhere = await A.enter('elsewhere', 'card:y');
    const alone = await B.enter('alone', 'card:y');
    await seconds(0);
    for (const guest of [a, b, alone]) guest.heard();
    B.line.disconnect();
    A.rooms.leave(left.room, left);
    A.rooms.leave(elsewhere.room, elsewhere);
    B.line.reconnect();
    await seconds(1);
    expect(b.heard()).toEqual(['-a', '-left', '+a']);
    expect(alone.heard()).toEqual(['-elsewhere']);
    expect((await B.enter('late')).peers).toEqual(['b', 'a']);
  });

  test.each([
    ['fails', 9],
    ['lost', 9],
    ['fails', 60],
    ['lost', 60],
  ] as const)('who could not be heard (%s) for %i seconds is met anew', async (speech, duration) => {
    A.line.speech = speech;
    await seconds(duration);
    expect(b.heard()).toEqual(['-a']);
    A.line.speech = 'fine';
    await seconds(5);
    expect(b.heard()).toEqual(['+a']);
    expect(a.heard()).toEqual(['-b', '+b']);
    B.rooms.relay(b.room, b, Buffer.from('from b'));
    A.rooms.relay(a.room, a, Buffer.from('from a'));
    await seconds(0);
    expect([a.heard(), b.heard()]).toEqual([['from b'], ['from a']]);
  });

  test.each([0, 3, 9])('an outage that one sees alone, of %i seconds: both meet anew', async (duration) => {
    A.line.disconnect();
    await seconds(duration);
    A.line.reconnect();
    await seconds(1);
    await haveMetAnew();
  });

  test('an outage that both see: they meet anew once', async () => {
    for (const { line } of [A, B]) line.disconnect();
    await seconds(3);
    A.line.reconnect();
    await seconds(0);
    B.line.reconnect();
    await seconds(1);
    await haveMetAnew();
  });

  test('a third process is not concerned when two have lost each other', async () => {
    const C = await startProcess();
    const c = await C.enter('c');
    const other = await C.enter('other', 'card:y');
    const far = await B.enter('far', 'card:y');
    await seconds(3);
    for (const guest of [a, b, c, other, far]) guest.heard();
    A.line.speech = 'lost';
    await seconds(9);
    A.line.speech = 'fine';
    await seconds(5);
    expect([other.heard(), far.heard()]).toEqual([[], []]);
    expect(c.heard()).toContain('+a');
  });

  test('a new process disturbs nobody', async () => {
    await startProcess();
    await seconds(9);
    expect([a.heard(), b.heard()]).toEqual([[], []]);
  });

  test('a process that ends is gone at once, one that crashes soon', async () => {
    await A.rooms.close();
    expect(b.heard()).toEqual(['-a']);
    const C = await startProcess();
    await C.enter('c');
    C.line.speech = 'lost';
    await seconds(9);
    expect(b.heard()).toEqual(['+c', '-c']);
  });
});
