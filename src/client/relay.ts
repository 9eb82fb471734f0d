// The relay from the client's side (docs/relay.md): rooms of ciphertext, over a connection that comes back by itself.
import type { Account } from './account.ts';
import { concat } from './bytes.ts';
import { openPayload, sealPayload } from './primitives.ts';
import type { OpenBoard } from './workspace.ts';

/** What a room needs of a socket; browsers and Node have one, as `WebSocket`. */
export interface Socket {
  binaryType: string;
  readonly readyState: number;
  send(data: string | Uint8Array<ArrayBuffer>): void;
  close(code?: number, reason?: string): void;
  addEventListener(type: 'open' | 'close' | 'message', listener: (event: { data?: unknown }) => void): void;
}

export interface RelayOptions {
  /** Address of the relay: `wss://kanban.example.org/api/ws`. */
  url: string;
  /** Makes a socket; the global `WebSocket` unless told otherwise. */
  createSocket?: (url: string) => Socket;
  /**
   * How long to wait before the first attempt to come back, or to enter a room that is unavailable, in milliseconds; it
   * doubles up to 30 s.
   */
  retryMs?: number;
}

export interface RoomHandler {
  /** A whole payload of somebody else in the room, decrypted. */
  receive(payload: Uint8Array): void;
  /** A piece of a payload has come, and more of it follows. */
  receiving?(): void;
  /** The room is (again) entered; who was in it already. */
  joined(peers: readonly string[]): void;
  peerJoined(peer: string): void;
  peerLeft(peer: string): void;
  /** The connection is lost; it will come back. */
  lost(): void;
  /** The relay will not let us in (any more). */
  refused(code: string): void;
}

export interface RelayRoom {
  /** Encrypts a payload and sends it to everybody else; large ones in pieces. Lost while there is no connection. */
  send(payload: Uint8Array): void;
  leave(): void;
}

export interface RelayConnection {
  /**
   * Enters a room of a board: `card:<id>` or `board:<id>`.
   *
   * @throws {Error} where this connection has the room open already: the relay knows it there once
   */
  join(room: string, board: OpenBoard, handler: RoomHandler): RelayRoom;
  close(): void;
}

interface Entered {
  board: OpenBoard;
  handler: RoomHandler;
  /** Whether `join` was said, on the connection that there is now. */
  isAsked: boolean;
  isJoined: boolean;
  unfinished: Unfinished;
  /** Of the next attempt, after the relay could not let us in. */
  waitMs: number;
  timer: ReturnType<typeof setTimeout> | undefined;
}

/** Payloads of which pieces are missing, by name; what was added to last comes last. */
export type Unfinished = Map<
  string,
  { pieces: Array<Uint8Array | undefined>; missing: number; bytes: number }
>;

type ControlMessage =
  | { type: 'joined'; room: string; peers: string[] }
  | { type: 'left'; room: string }
  | { type: 'peer-joined' | 'peer-left'; room: string; peer: string }
  | { type: 'error'; code: string; message: string; room?: string };

// A frame may have 256 KiB, with the name of the room, the nonce, the tag and the header of a piece.
const PIECE_BYTES = 240 * 1024;
const PIECE_HEADER_BYTES = 12;
const MOST_PIECES = 256;
// At least the largest payload. Any number of peers may send at the same time, small payloads rather than large ones.
const MOST_UNFINISHED_BYTES = 64 * 1024 * 1024;
// What an unfinished payload counts by itself, amply: there are never more than a thousand.
const UNFINISHED_BYTES = 64 * 1024;
const RETRY_MS = 500;
const LONGEST_RETRY_MS = 30_000;
const OPEN = 1;

/** Connects an account to the relay, and again whenever the connection is lost, until it is closed. */
export function connectRelay(
  { transport }: Pick<Account, 'transport'>,
  {
    url,
    createSocket = (address) => new WebSocket(address) as unknown as Socket,
    retryMs = RETRY_MS,
  }: RelayOptions,
): RelayConnection {
  const rooms = new Map<string, Entered>();
  /** Rooms that the relay has not confirmed yet that we left. */
  const leaving = new Set<string>();
  let socket: Socket | undefined;
  let wait = retryMs;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isClosed = false;

  const say = (message: unknown) => {
    if (socket?.readyState === OPEN) socket.send(JSON.stringify(message));
  };
  const open = async () => {
    try {
      const { ticket } = await transport.call<{ ticket: string }>('POST', '/auth/ws-ticket');
      if (isClosed) return;
      const opening = createSocket(`${url}?t=${encodeURIComponent(ticket)}`);
      opening.binaryType = 'arraybuffer';
      socket = opening;
      opening.addEventListener('open', () => {
        wait = retryMs;
        for (const [room, entered] of rooms) enter(room, entered);
      });
      opening.addEventListener('message', ({ data }) => hear(data));
      opening.addEventListener('close', () => {
        if (socket === opening) lose();
      });
    } catch {
      retry();
    }
  };
  const lose = () => {
    socket = undefined;
    leaving.clear();
    for (const entered of rooms.values()) {
      clearTimeout(entered.timer);
      entered.isAsked = false;
      if (!entered.isJoined) continue;
      entered.isJoined = false;
      entered.unfinished.clear();
      entered.handler.lost();
    }
    retry();
  };
  const retry = () => {
    if (isClosed) return;
    timer = setTimeout(open, wait);
    wait = Math.min(wait * 2, LONGEST_RETRY_MS);
  };
  const enter = (room: string, entered: Entered) => {
    // Behind a `leave` that is under way: what comes until it is confirmed is of the stay before.
    if (socket?.readyState !== OPEN || leaving.has(room)) return;
    entered.isAsked = true;
    say({ type: 'join', room });
  };
  const enterLater = (room: string, entered: Entered) => {
    entered.isAsked = false;
    entered.timer = setTimeout(() => enter(room, entered), entered.waitMs);
    entered.waitMs = Math.min(entered.waitMs * 2, LONGEST_RETRY_MS);
  };
  const leave = (room: string, entered: Entered) => {
    // Others may have entered since the relay refused us.
    if (rooms.get(room) !== entered) return;
    rooms.delete(room);
    clearTimeout(entered.timer);
    if (!entered.isAsked) return;
    leaving.add(room);
    say({ type: 'leave', room });
  };
  const hear = (data: unknown) => {
    if (typeof data === 'string') control(JSON.parse(data) as ControlMessage);
    else traffic(new Uint8Array(data as ArrayBuffer));
  };
  const control = (message: ControlMessage) => {
    const { room } = message;
    const entered = room === undefined ? undefined : rooms.get(room);
    if (room !== undefined && leaving.has(room)) {
      const hasLeft = message.type === 'left' || (message.type === 'error' && message.code === 'NOT_JOINED');
      if (hasLeft && leaving.delete(room) && entered) enter(room, entered);
      return;
    }
    if (room === undefined || !entered) return;
    const { handler } = entered;
    if (message.type === 'joined') {
      entered.isJoined = true;
      entered.waitMs = retryMs;
      handler.joined(message.peers);
    } else if (message.type === 'peer-joined') handler.peerJoined(message.peer);
    else if (message.type === 'peer-left') handler.peerLeft(message.peer);
    else if (message.type === 'error') {
      if (message.code === 'UNAVAILABLE') enterLater(room, entered);
      else if (['NOT_FOUND', 'ACCESS_ENDED', 'TOO_MANY_ROOMS'].includes(message.code)) {
        rooms.delete(room);
        handler.refused(message.code);
      }
    }
  };
  const traffic = (frame: Uint8Array) => {
    const length = frame[0] ?? 0;
    const room = new TextDecoder().decode(frame.subarray(1, 1 + length));
    const entered = rooms.get(room);
    if (!entered?.isJoined) return;
    const piece = openPayload(entered.board.keys, frame.subarray(1 + length), contextOf(room));
    // Not under a key of this board: not of somebody who may write here.
    if (!piece) return;
    const payload = assemble(entered.unfinished, piece);
    if (payload) entered.handler.receive(payload);
    else entered.handler.receiving?.();
  };
  open();

  return {
    join: (room, board, handler) => {
      if (rooms.has(room)) {
        throw new Error(`${room} is open on this connection: share what was opened, or close that first`);
      }
      const entered: Entered = {
        board,
        handler,
        isAsked: false,
        isJoined: false,
        unfinished: new Map(),
        waitMs: retryMs,
        timer: undefined,
      };
      rooms.set(room, entered);
      enter(room, entered);
      return {
        send: (payload) => {
          if (rooms.get(room) !== entered || !entered.isJoined || socket?.readyState !== OPEN) return;
          for (const piece of split(payload)) {
            const sealed = sealPayload(board.keys, piece, contextOf(room));
            const name = new TextEncoder().encode(room);
            socket.send(concat(Uint8Array.of(name.length), name, sealed));
          }
        },
        leave: () => leave(room, entered),
      };
    },
    close: () => {
      isClosed = true;
      clearTimeout(timer);
      for (const entered of rooms.values()) clearTimeout(entered.timer);
      rooms.clear();
      socket?.close(1000, 'done');
    },
  };
}

/** Bound to the room, so that nothing sent in one can be passed off in another. */
function contextOf(room: string): string {
  return `relay.${room}`;
}

/** A payload in pieces that fit into frames: eight bytes that name it, two of position, two of count. */
export function split(payload: Uint8Array): Uint8Array[] {
  const count = Math.max(1, Math.ceil(payload.length / PIECE_BYTES));
  if (count > MOST_PIECES) throw new RangeError('the payload is too large for the relay');
  const name = crypto.getRandomValues(new Uint8Array(8));
  return Array.from({ length: count }, (_, index) => {
    const position = Uint8Array.of(index >> 8, index & 255, count >> 8, count & 255);
    return concat(name, position, payload.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES));
  });
}

/** Adds a piece; answers the payload once it is whole. */
export function assemble(unfinished: Unfinished, piece: Uint8Array): Uint8Array | undefined {
  if (piece.length < PIECE_HEADER_BYTES) return undefined;
  const name = piece.subarray(0, 8).join();
  const [high = 0, low = 0, countHigh = 0, countLow = 0] = piece.subarray(8, PIECE_HEADER_BYTES);
  const [index, count] = [high * 256 + low, countHigh * 256 + countLow];
  const content = piece.subarray(PIECE_HEADER_BYTES);
  if (count === 1) return content;
  if (count === 0 || count > MOST_PIECES || index >= count) return undefined;
  const begun = unfinished.get(name);
  const payload = begun ?? {
    pieces: new Array<Uint8Array | undefined>(count).fill(undefined),
    missing: count,
    bytes: UNFINISHED_BYTES,
  };
  if (payload.pieces.length !== count || payload.pieces[index]) return undefined;
  payload.pieces[index] = content;
  payload.missing--;
  payload.bytes += content.length;
  unfinished.delete(name);
  if (payload.missing === 0) return concat(...(payload.pieces as Uint8Array[]));
  unfinished.set(name, payload);
  forgetStalled(unfinished);
  return undefined;
}

/** Who stopped in the middle must not fill the memory of the others: what has waited longest goes first. */
function forgetStalled(unfinished: Unfinished): void {
  let bytes = 0;
  for (const payload of unfinished.values()) bytes += payload.bytes;
  for (const [name, payload] of unfinished) {
    if (bytes <= MOST_UNFINISHED_BYTES) return;
    unfinished.delete(name);
    bytes -= payload.bytes;
  }
}
