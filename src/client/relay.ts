// The relay from the client's side (docs/relay.md): rooms of ciphertext, over a connection that comes back by itself.
import type { Account } from './account.ts';
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
  /** How long to wait before the first attempt to come back, in milliseconds; it doubles up to 30 s. */
  retryMs?: number;
}

export interface RoomHandler {
  /** A whole payload of somebody else in the room, decrypted. */
  receive(payload: Uint8Array): void;
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
  /** Enters a room of a board: `card:<id>` or `board:<id>`. */
  join(room: string, board: OpenBoard, handler: RoomHandler): RelayRoom;
  close(): void;
}

interface Entered {
  board: OpenBoard;
  handler: RoomHandler;
  isJoined: boolean;
  pieces: Map<string, Array<Uint8Array | undefined>>;
}

type ControlMessage =
  | { type: 'joined'; room: string; peers: string[] }
  | { type: 'left'; room: string }
  | { type: 'peer-joined' | 'peer-left'; room: string; peer: string }
  | { type: 'error'; code: string; message: string; room?: string };

// A frame may have 256 KiB, with the name of the room, the nonce, the tag and the header of a piece.
const PIECE_BYTES = 240 * 1024;
const PIECE_HEADER_BYTES = 12;
const MOST_PIECES = 1_024;
const MOST_UNFINISHED = 16;
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
        for (const room of rooms.keys()) say({ type: 'join', room });
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
    for (const entered of rooms.values()) {
      if (!entered.isJoined) continue;
      entered.isJoined = false;
      entered.pieces.clear();
      entered.handler.lost();
    }
    retry();
  };
  const retry = () => {
    if (isClosed) return;
    timer = setTimeout(open, wait);
    wait = Math.min(wait * 2, LONGEST_RETRY_MS);
  };
  const hear = (data: unknown) => {
    if (typeof data === 'string') control(JSON.parse(data) as ControlMessage);
    else traffic(new Uint8Array(data as ArrayBuffer));
  };
  const control = (message: ControlMessage) => {
    const entered = message.room === undefined ? undefined : rooms.get(message.room);
    if (!entered) return;
    const { handler } = entered;
    if (message.type === 'joined') {
      entered.isJoined = true;
      handler.joined(message.peers);
    } else if (message.type === 'peer-joined') handler.peerJoined(message.peer);
    else if (message.type === 'peer-left') handler.peerLeft(message.peer);
    else if (message.type === 'error') {
      if (['NOT_FOUND', 'ACCESS_ENDED', 'TOO_MANY_ROOMS'].includes(message.code)) {
        rooms.delete(message.room ?? '');
        handler.refused(message.code);
      }
    }
  };
  const traffic = (frame: Uint8Array) => {
    const length = frame[0] ?? 0;
    const room = new TextDecoder().decode(frame.subarray(1, 1 + length));
    const entered = rooms.get(room);
    if (!entered) return;
    const piece = openPayload(entered.board.keys, frame.subarray(1 + length), contextOf(room));
    // Not under a key of this board: not of somebody who may write here.
    if (!piece) return;
    const payload = assemble(entered.pieces, piece);
    if (payload) entered.handler.receive(payload);
  };
  open();

  return {
    join: (room, board, handler) => {
      rooms.set(room, { board, handler, isJoined: false, pieces: new Map() });
      say({ type: 'join', room });
      return {
        send: (payload) => {
          const entered = rooms.get(room);
          if (!entered?.isJoined || socket?.readyState !== OPEN) return;
          for (const piece of split(payload)) {
            const sealed = sealPayload(board.keys, piece, contextOf(room));
            const name = new TextEncoder().encode(room);
            socket.send(concat(Uint8Array.of(name.length), name, sealed));
          }
        },
        leave: () => {
          if (rooms.delete(room)) say({ type: 'leave', room });
        },
      };
    },
    close: () => {
      isClosed = true;
      clearTimeout(timer);
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
export function assemble(
  unfinished: Map<string, Array<Uint8Array | undefined>>,
  piece: Uint8Array,
): Uint8Array | undefined {
  if (piece.length < PIECE_HEADER_BYTES) return undefined;
  const name = piece.subarray(0, 8).join();
  const [high = 0, low = 0, countHigh = 0, countLow = 0] = piece.subarray(8, PIECE_HEADER_BYTES);
  const [index, count] = [high * 256 + low, countHigh * 256 + countLow];
  const content = piece.subarray(PIECE_HEADER_BYTES);
  if (count === 1) return content;
  if (count === 0 || count > MOST_PIECES || index >= count) return undefined;
  const pieces = unfinished.get(name) ?? new Array<Uint8Array | undefined>(count).fill(undefined);
  pieces[index] = content;
  unfinished.set(name, pieces);
  if (pieces.some((one) => one === undefined)) {
    // Who stopped in the middle must not fill the memory of the others.
    if (unfinished.size > MOST_UNFINISHED) unfinished.delete(unfinished.keys().next().value ?? '');
    return undefined;
  }
  unfinished.delete(name);
  return concat(...(pieces as Uint8Array[]));
}

function concat(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  const whole = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    whole.set(part, offset);
    offset += part.length;
  }
  return whole;
}
