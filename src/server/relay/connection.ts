// One connection of the relay: what it may do, how fast, and what happens when its reader stops reading.
import type { Socket } from 'node:net';
import type { WebSocket } from 'ws';
import type { Principal } from '../../services/kanban/accounts/session-cache.ts';
import { type ControlRequest, encodeControl, encodeFrame, parseControl, roomOf } from './frames.ts';
import type { Member, Room } from './rooms.ts';

/** What a connection needs of its relay. */
export interface ConnectionHost {
  enter(connection: Connection, room: string): Promise<{ room: Room; peers: string[] }>;
  /** Rejects when they may not be in the room any more. */
  requireAccess(connection: Connection, room: Room): Promise<void>;
  leave(connection: Connection, room: Room): void;
  relay(room: Room, sender: Connection, payload: Buffer): void;
  /** Of an error that the client may read; undefined for any other. */
  refusalOf(error: unknown): { code: string; message: string } | undefined;
  closed(connection: Connection): void;
  tooSlow(): void;
}

const MOST_ROOMS = 50;
const FRAMES_PER_SECOND = 500;
// What may come at once after a silence.
const BURST = 1_000;
const MOST_UNSENT_BYTES = 4 * 1024 * 1024;
const CLOSE_GRACE_MS = 2_000;
const SLOW_READER = 1013;
const PING = encodeFrame('ping', new Uint8Array());

const NO_ROOMS: ReadonlyMap<string, Room> = new Map();

const OWNER = Symbol('connection');
type OwnedSocket = WebSocket & { [OWNER]: Connection };

// Shared by all connections: most of them are idle, and there are many.
function onMessage(this: WebSocket, data: Buffer, isBinary: boolean): void {
  (this as OwnedSocket)[OWNER].receive(data, isBinary);
}
function onPong(this: WebSocket): void {
  (this as OwnedSocket)[OWNER].heard();
}
function onClose(this: WebSocket): void {
  (this as OwnedSocket)[OWNER].gone();
}
// A frame that breaks the protocol: ws closes with the code that says so.
function ignoreError(): void {}

export class Connection implements Member {
  readonly peer: string;
  readonly principal: Principal;
  /** How often its access was looked at: a room that is being joined is not among those that were. */
  accessChecks = 0;
  readonly #host: ConnectionHost;
  readonly #ws: WebSocket;
  readonly #socket: Socket;
  #rooms: Map<string, Room> | undefined;
  #isAlive = true;
  #isClosing = false;
  /** Frames that came while a control message was being worked on. */
  #backlog: Array<[Buffer, boolean]> | undefined;
  /** Frames of the room that it is joining: nothing of a room comes before `joined`. */
  #held: { room: string; frames: Buffer[]; bytes: number } | undefined;
  #tokens = BURST;
  #filledAt = performance.now();
  /** Until when the sender is held up, and what ends that. */
  #pausedUntil = 0;
  #pause: NodeJS.Timeout | undefined;

  constructor(
    host: ConnectionHost,
    ws: WebSocket,
    socket: Socket,
    { peer, principal }: { peer: string; principal: Principal },
  ) {
    this.#host = host;
    this.#ws = ws;
    this.#socket = socket;
    this.peer = peer;
    this.principal = principal;
    (ws as OwnedSocket)[OWNER] = this;
    ws.on('message', onMessage).on('pong', onPong).on('close', onClose).on('error', ignoreError);
  }

  /** The rooms it is in, by name. */
  get rooms(): ReadonlyMap<string, Room> {
    return this.#rooms ?? NO_ROOMS;
  }

  /** Writes a whole frame, past the buffers of a library: the same bytes go to many. What is of a room names it. */
  send(frame: Buffer, room?: string): void {
    if (this.#isClosing) return;
    if (this.#held && this.#held.room === room) {
      this.#held.frames.push(frame);
      this.#held.bytes += frame.length;
    } else this.#socket.write(frame);
    if (this.#socket.writableLength + (this.#held?.bytes ?? 0) <= MOST_UNSENT_BYTES) return;
    this.#host.tooSlow();
    this.close(SLOW_READER, 'too slow a reader');
  }

  /** Closes in order, or by force when that takes too long. */
  close(code: number, reason: string): void {
    if (this.#isClosing) return;
    this.#isClosing = true;
    this.#ws.close(code, reason);
    setTimeout(() => this.#ws.terminate(), CLOSE_GRACE_MS).unref();
  }

  /** Asks for a sign of life; ends the connection when there was none since the last time. */
  beat(): void {
    if (!this.#isAlive) this.#ws.terminate();
    this.#isAlive = false;
    this.send(PING);
  }

  /** Takes it out of a room that it may not be in any more. */
  expel(room: Room): void {
    this.#rooms?.delete(room.name);
    this.#host.leave(this, room);
    this.#refuse('ACCESS_ENDED', 'You may not be in this room any more.', room.name);
    this.send(encodeControl({ type: 'left', room: room.name }));
  }

  /** A frame has come. */
  receive(data: Buffer, isBinary: boolean): void {
    this.#isAlive = true;
    this.#throttle();
    if (this.#backlog) this.#backlog.push([data, isBinary]);
    else if (isBinary) this.#relay(data);
    else this.#control(data);
  }

  #relay(payload: Buffer): void {
    const name = roomOf(payload);
    const room = name === undefined ? undefined : this.rooms.get(name);
    if (room) this.#host.relay(room, this, payload);
    else if (name === undefined)
      this.#refuse('BAD_REQUEST', 'A binary frame begins with the length and the name of its room.');
    else this.#refuse('NOT_JOINED', 'Join the room first.', name);
  }

  #control(data: Buffer): void {
    const request = parseControl(data);
    if (!request)
      this.#refuse('BAD_REQUEST', 'A text frame is {"type":"join"|"leave","room":"card:<id>"|"board:<id>"}.');
    else if (request.type === 'leave') this.#leave(request);
    else if (this.rooms.has(request.room)) this.#refuse('CONFLICT', 'You are in this room.', request.room);
    else if (this.rooms.size >= MOST_ROOMS) {
      this.#refuse('TOO_MANY_ROOMS', `A connection may be in ${MOST_ROOMS} rooms.`, request.room);
    } else {
      // What comes behind a join waits for it: frames for the room may be among it.
      this.#backlog = [];
      this.#ws.pause();
      this.#join(request).finally(() => this.#workOff());
    }
  }

  async #join({ room: name }: ControlRequest): Promise<void> {
    const held = { room: name, frames: [] as Buffer[], bytes: 0 };
    this.#held = held;
    let room: Room | undefined;
    try {
      let checks = this.accessChecks;
      const entered = await this.#host.enter(this, name);
      room = entered.room;
      // Whoever looked meanwhile did not see this room. From the last answer to the entry nothing comes between.
      while (checks !== this.accessChecks) {
        checks = this.accessChecks;
        await this.#host.requireAccess(this, room);
      }
      this.#held = undefined;
      if (this.#ws.readyState !== this.#ws.OPEN) return this.#host.leave(this, room);
      this.#rooms ??= new Map();
      this.#rooms.set(name, room);
      this.send(encodeControl({ type: 'joined', room: name, peers: entered.peers }));
      for (const frame of held.frames) this.send(frame);
    } catch (error) {
      // What was held is not for them.
      this.#held = undefined;
      if (room) this.#host.leave(this, room);
      const refusal = this.#host.refusalOf(error);
      this.#refuse(refusal?.code ?? 'UNAVAILABLE', refusal?.message ?? 'Try again in a moment.', name);
    }
  }

  #leave({ room: name }: ControlRequest): void {
    const room = this.rooms.get(name);
    if (!room) {
      this.#refuse('NOT_JOINED', 'You are not in this room.', name);
      return;
    }
    this.#rooms?.delete(name);
    this.#host.leave(this, room);
    this.send(encodeControl({ type: 'left', room: name }));
  }

  #workOff(): void {
    const waiting = this.#backlog ?? [];
    this.#backlog = undefined;
    for (const [index, [data, isBinary]] of waiting.entries()) {
      if (isBinary) this.#relay(data);
      else this.#control(data);
      if (!this.#backlog) continue;
      // That was another join: the rest waits for it.
      this.#backlog = waiting.slice(index + 1);
      return;
    }
    this.#readOn();
  }

  /** Counts a frame. Reads on no faster than frames may come; nothing is lost, the sender is held up. */
  #throttle(): void {
    const now = performance.now();
    this.#tokens = Math.min(BURST, this.#tokens + ((now - this.#filledAt) / 1000) * FRAMES_PER_SECOND) - 1;
    this.#filledAt = now;
    if (this.#tokens >= 0) return;
    this.#pausedUntil = now + (-this.#tokens / FRAMES_PER_SECOND) * 1000 + 10;
    this.#ws.pause();
    this.#readOn();
  }

  /** Reads on once neither the throttle nor a join holds the sender up. */
  #readOn(): void {
    const waitMs = this.#pausedUntil - performance.now();
    if (waitMs > 0) {
      this.#pause ??= setTimeout(() => {
        this.#pause = undefined;
        this.#readOn();
      }, Math.ceil(waitMs)).unref();
    } else if (!this.#backlog) this.#ws.resume();
  }

  #refuse(code: string, message: string, room?: string): void {
    this.send(encodeControl({ type: 'error', code, message, ...(room !== undefined && { room }) }));
  }

  /** A sign of life has come. */
  heard(): void {
    this.#isAlive = true;
  }

  /** The socket is closed. */
  gone(): void {
    this.#isClosing = true;
    clearTimeout(this.#pause);
    for (const room of this.rooms.values()) this.#host.leave(this, room);
    this.#rooms = undefined;
    this.#host.closed(this);
  }
}
