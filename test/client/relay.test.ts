// The client's connection to the relay, at the end of a socket that a test holds.
import { afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { newKey, ready } from '../../src/client/primitives.ts';
import {
  assemble,
  connectRelay,
  type RelayConnection,
  type RoomHandler,
  type Socket,
  split,
  type Unfinished,
} from '../../src/client/relay.ts';

const ROOM = 'card:one';
const RETRY_MS = 500;
const PIECE_BYTES = 240 * 1024;

beforeAll(() => ready());

/** A socket whose other end is the test. */
class FakeSocket extends EventTarget {
  binaryType = 'blob';
  readyState = 0;
  readonly said: string[] = [];
  frames = 0;
  send(data: string | Uint8Array) {
    if (typeof data !== 'string') this.frames++;
    else {
      const { type, room } = JSON.parse(data);
      this.said.push(`${type} ${room}`);
    }
  }
  close() {
    this.readyState = 3;
    this.dispatchEvent(new Event('close'));
  }
  open() {
    this.readyState = 1;
    this.dispatchEvent(new Event('open'));
  }
  answer(message: unknown) {
    this.dispatchEvent(
      new MessageEvent('message', { data: JSON.stringify({ room: ROOM, ...Object(message) }) }),
    );
  }
}

describe('a room', () => {
  const board = { id: 'board', workspaceId: 'workspace', name: 'Board', keys: new Map<number, Uint8Array>() };
  let relay: RelayConnection;
  let sockets: FakeSocket[];
  const socket = () => sockets.at(-1) as FakeSocket;
  const unavailable = { type: 'error', code: 'UNAVAILABLE', message: 'Try again in a moment.' };
  const joined = (...peers: string[]) => ({ type: 'joined', peers });

  /** A handler that writes down what it is told. */
  function aHandler() {
    const told: string[] = [];
    const handler: RoomHandler = {
      receive: () => told.push('received'),
      joined: (peers) => told.push(`joined ${peers.join()}`),
      peerJoined: (peer) => told.push(`+${peer}`),
      peerLeft: (peer) => told.push(`-${peer}`),
      lost: () => told.push('lost'),
      refused: (code) => told.push(`refused ${code}`),
    };
    return { told, handler };
  }

  beforeEach(async () => {
    vi.useFakeTimers();
    board.keys.set(1, newKey());
    sockets = [];
    relay = connectRelay(
      { transport: { call: async () => ({ ticket: 'ticket' }) as never } },
      {
        url: 'wss://relay.example.org/api/ws',
        retryMs: RETRY_MS,
        createSocket: () => {
          const made = new FakeSocket();
          sockets.push(made);
          return made as Socket;
        },
      },
    );
    await vi.advanceTimersByTimeAsync(0);
    socket().open();
  });
  afterEach(() => {
    relay.close();
    vi.useRealTimers();
  });

  test('that is unavailable is tried again, less and less often', async () => {
    const { told, handler } = aHandler();
    relay.join(ROOM, board, handler);
    const triedAt: number[] = [];
    for (const start = Date.now(); triedAt.length < 5; ) {
      while (socket().said.length === triedAt.length) await vi.advanceTimersByTimeAsync(100);
      triedAt.push(Date.now() - start);
      socket().answer(unavailable);
    }
    expect(triedAt).toEqual([0, 500, 1_500, 3_500, 7_500]);
    await vi.advanceTimersByTimeAsync(8_000);
    socket().answer(joined('ada'));
    await vi.advanceTimersByTimeAsync(60_000);
    expect(socket().said).toHaveLength(6);
    expect(told).toEqual(['joined ada']);
  });

  test('that is unavailable is entered once when the connection is new meanwhile', async () => {
    const { told, handler } = aHandler();
    relay.join(ROOM, board, handler);
    socket().answer(unavailable);
    socket().close();
    await vi.advanceTimersByTimeAsync(RETRY_MS);
    socket().open();
    socket().answer(joined());
    await vi.advanceTimersByTimeAsync(60_000);
    expect(sockets).toHaveLength(2);
    expect(socket().said).toEqual([`join ${ROOM}`]);
    expect(told).toEqual(['joined ']);
  });

  test('that is unavailable is not tried again by who has left', async () => {
    const { told, handler } = aHandler();
    const room = relay.join(ROOM, board, handler);
    socket().answer(unavailable);
    room.leave();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(socket().said).toEqual([`join ${ROOM}`]);
    expect(told).toEqual([]);
  });

  test('is open once on a connection, and says so', () => {
    const [first, second] = [aHandler(), aHandler()];
    const room = relay.join(ROOM, board, first.handler);
    expect(() => relay.join(ROOM, board, second.handler)).toThrow(
      'card:one is open on this connection: share what was opened, or close that first',
    );
    socket().answer(joined());
    expect([first.told, second.told]).toEqual([['joined '], []]);
    room.leave();
    expect(() => relay.join(ROOM, board, second.handler)).not.toThrow();
  });

  test('that is left and entered in one breath is entered after it is left', () => {
    const [first, second] = [aHandler(), aHandler()];
    relay.join(ROOM, board, first.handler).leave();
    const room = relay.join(ROOM, board, second.handler);
    socket().answer(joined('of the stay before'));
    room.send(Uint8Array.of(1));
    expect(socket().said).toEqual([`join ${ROOM}`, `leave ${ROOM}`]);
    socket().answer({ type: 'left' });
    expect(socket().said).toEqual([`join ${ROOM}`, `leave ${ROOM}`, `join ${ROOM}`]);
    socket().answer(joined('ada'));
    room.send(Uint8Array.of(1));
    expect([first.told, second.told, socket().frames]).toEqual([[], ['joined ada'], 1]);
  });

  test('that was refused is not left for who entered it anew', () => {
    const [first, second] = [aHandler(), aHandler()];
    const room = relay.join(ROOM, board, first.handler);
    socket().answer({ type: 'error', code: 'NOT_FOUND', message: 'no such room' });
    relay.join(ROOM, board, second.handler);
    room.leave();
    socket().answer(joined('ada'));
    expect([first.told, second.told]).toEqual([['refused NOT_FOUND'], ['joined ada']]);
  });
});

describe('pieces of a payload', () => {
  test('become whole, however many others are under way', () => {
    const payloads = Array.from({ length: 40 }, (_, index) => new Uint8Array(500_000).fill(index));
    const pieces = payloads.map(split);
    const unfinished: Unfinished = new Map();
    const whole: Uint8Array[] = [];
    for (let position = 0; position < 3; position++) {
      for (const [index] of payloads.entries()) {
        const piece = pieces[index]?.[position];
        const payload = piece && assemble(unfinished, piece);
        if (payload) whole.push(payload);
      }
    }
    expect(whole.map((payload) => payload[499_999])).toEqual(payloads.map((_, index) => index));
    expect(unfinished.size).toBe(0);
  });

  test('of those who stop in the middle fill no memory, and cost nobody else theirs', () => {
    const unfinished: Unfinished = new Map();
    const mine = split(new Uint8Array(PIECE_BYTES * 2).fill(7));
    for (let index = 0; index < 400; index++) {
      const [first] = split(new Uint8Array(PIECE_BYTES * 2));
      assemble(unfinished, first as Uint8Array);
      if (index === 250) assemble(unfinished, mine[0] as Uint8Array);
    }
    const bytes = [...unfinished.values()].reduce((sum, payload) => sum + payload.bytes, 0);
    expect(bytes).toBeLessThanOrEqual(64 * 1024 * 1024);
    expect(assemble(unfinished, mine[1] as Uint8Array)).toHaveLength(PIECE_BYTES * 2);
  });

  test('without content fill no memory either', () => {
    const unfinished: Unfinished = new Map();
    for (let index = 0; index < 2_000; index++) {
      const piece = new Uint8Array(12);
      new DataView(piece.buffer).setUint32(0, index);
      piece.set([0, 0, 1, 0], 8);
      assemble(unfinished, piece);
    }
    expect(unfinished.size).toBeLessThanOrEqual(1_024);
  });

  test('that come twice, or of another count, change nothing', () => {
    const unfinished: Unfinished = new Map();
    const [first, second] = split(new Uint8Array(PIECE_BYTES + 1).fill(3)) as [Uint8Array, Uint8Array];
    const other = Uint8Array.from(second);
    other[11] = 3;
    for (const piece of [first, first, other]) expect(assemble(unfinished, piece)).toBeUndefined();
    expect(assemble(unfinished, second)).toEqual(new Uint8Array(PIECE_BYTES + 1).fill(3));
  });

  test('of the largest payload fit, and of a larger one are not made', () => {
    const largest = new Uint8Array(PIECE_BYTES * 256);
    const unfinished: Unfinished = new Map();
    let whole: Uint8Array | undefined;
    for (const piece of split(largest)) whole = assemble(unfinished, piece);
    expect(whole?.length).toBe(largest.length);
    expect(() => split(new Uint8Array(largest.length + 1))).toThrow('too large');
  });
});
