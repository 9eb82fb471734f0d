// The rooms of one relay process: who is in them, here and in the other processes, and how frames get to all.
import { randomUUID } from 'node:crypto';
import { messageOf } from '../../platform/errors.ts';
import type { Platform } from '../../platform/platform.ts';
import { encodeControl, encodeFrame } from './frames.ts';

/** Somebody in a room of this process. */
export interface Member {
  /** Names the connection to the others. */
  readonly peer: string;
  /** Takes a whole frame, which is of that room. */
  send(frame: Buffer, room: string): void;
}

export interface Room {
  readonly name: string;
  readonly boardId: string;
}

export interface Rooms {
  /** Brings somebody in; resolves with the room and the peers that are in it already, of every process. */
  join(name: string, boardId: string, member: Member): Promise<{ room: Room; peers: string[] }>;
  leave(room: Room, member: Member): void;
  /** Hands a payload to everybody else in the room. */
  relay(room: Room, sender: Member, payload: Buffer): void;
  close(): Promise<void>;
}

interface LocalRoom extends Room {
  members: Set<Member>;
  /** Peers in other processes. */
  remote: Map<string, Home>;
  /** Grows when this process may have missed something, or the others something of it: they begin anew with its peers. */
  epoch: number;
  /** Resolves when messages of the other processes arrive; the answer ends that. */
  subscription: Promise<() => Promise<void>> | undefined;
}

/** Which process has a peer, and the epoch of its room there. */
type Home = { origin: string; epoch: number };

/**
 * Between processes: who says it, what, of what, and the epoch of its room. `hello` and `here` name all peers that the
 * process has in the room, and `hello` asks for the same; a frame is base64.
 */
type Message = [
  origin: string,
  kind: 'hello' | 'here' | 'joined' | 'left' | 'frame',
  value: string | string[],
  epoch: number,
];

const ALIVE_CHANNEL = 'relay-alive';
const ALIVE_EVERY_MS = 2_000;
const DEAD_AFTER_MS = 6_000;
const MOST_LOST = 1_000;

/** Opens the rooms of a process. */
export async function openRooms({ ephemeral, log }: Pick<Platform, 'ephemeral' | 'log'>): Promise<Rooms> {
  const origin = randomUUID();
  const rooms = new Map<string, LocalRoom>();
  const processes = new Map<string, number>();
  /** Processes that have been silent for too long: whoever of them is back has to be greeted. */
  const lost = new Set<string>();
  /** Names of rooms of which the others could not be told something. */
  const untold = new Set<string>();
  let { interruptions } = ephemeral;
  let epochs = 0;

  const messageFor = (room: LocalRoom, kind: Message[1], value: Message[2]) =>
    JSON.stringify([origin, kind, value, room.epoch] satisfies Message);
  const couldNotTell = (room: LocalRoom) => (error: unknown) => {
    untold.add(room.name);
    log.debug({ error: messageOf(error) }, 'the other relays were not told');
  };
  const publish = (room: LocalRoom, kind: Message[1], value: Message[2]) => {
    ephemeral.publish(channelOf(room.name), messageFor(room, kind, value)).catch(couldNotTell(room));
  };
  const tell = (room: LocalRoom, frame: Buffer, except?: Member) => {
    for (const member of room.members) if (member !== except) member.send(frame, room.name);
  };
  const peerJoined = (room: LocalRoom, peer: string, home: Home) => {
    if (room.remote.has(peer)) return;
    room.remote.set(peer, home);
    tell(room, encodeControl({ type: 'peer-joined', room: room.name, peer }));
  };
  const peerLeft = (room: LocalRoom, peer: string) => {
    if (room.remote.delete(peer)) tell(room, encodeControl({ type: 'peer-left', room: room.name, peer }));
  };
  /** Takes out peers of other processes: those come back as new ones, and these do there, so that all sync anew. */
  const forget = (room: LocalRoom, isMeant: (from: string) => boolean) => {
    const gone = [...room.remote].filter(([, home]) => isMeant(home.origin));
    if (gone.length > 0) room.epoch = ++epochs;
    for (const [peer] of gone) peerLeft(room, peer);
  };
  const forgetProcess = (gone: string) => {
    processes.delete(gone);
    for (const room of rooms.values()) forget(room, (from) => from === gone);
  };
  const startOver = (room: LocalRoom) => {
    forget(room, () => true);
    // They may have peers of ours of whom we know nothing.
    room.epoch = ++epochs;
  };
  /** What was missed is unknown, so everything starts over, before anything is said or heard. */
  const noticeInterruption = () => {
    if (interruptions === ephemeral.interruptions) return;
    interruptions = ephemeral.interruptions;
    for (const room of rooms.values()) startOver(room);
  };
  const peersOf = (room: LocalRoom) => [...room.members].map(({ peer }) => peer);
  /** Of a process in a room these are all, as of that epoch. */
  const replacePeers = (room: LocalRoom, home: Home, peers: readonly string[]) => {
    const present = new Set(peers);
    for (const [peer, known] of room.remote) {
      if (known.origin !== home.origin) continue;
      if (known.epoch !== home.epoch || !present.has(peer)) peerLeft(room, peer);
    }
    for (const peer of peers) peerJoined(room, peer, home);
  };
  const greet = async (room: LocalRoom) => {
    const named = peersOf(room);
    await ephemeral
      .announce(channelOf(room.name), messageFor(room, 'hello', named))
      .catch(couldNotTell(room));
    // What was told of meanwhile may have come before the greeting.
    const current = rooms.get(room.name) ?? room;
    const peers = peersOf(current);
    if (peers.join() !== named.join()) publish(current, 'here', peers);
  };
  const isHeard = (from: string) => {
    processes.set(from, performance.now());
    if (!lost.delete(from)) return;
    for (const room of rooms.values()) greet(room);
  };
  const hear = (room: LocalRoom, text: string) => {
    const [from, kind, value, epoch] = JSON.parse(text) as Message;
    if (from === origin) return;
    noticeInterruption();
    isHeard(from);
    if (kind === 'frame') return tell(room, encodeFrame('binary', Buffer.from(String(value), 'base64')));
    const peers = [value].flat();
    if (kind === 'left') for (const peer of peers) peerLeft(room, peer);
    else if (kind === 'joined') for (const peer of peers) peerJoined(room, peer, { origin: from, epoch });
    else replacePeers(room, { origin: from, epoch }, peers);
    if (kind === 'hello') publish(room, 'here', peersOf(room));
  };
  const subscribe = (room: LocalRoom) => {
    const subscription = ephemeral.subscribe(channelOf(room.name), (text) => hear(room, text));
    room.subscription = subscription;
    // While Redis is away a room is of this process alone; the timer tries again.
    subscription.catch(() => {
      if (room.subscription === subscription) room.subscription = undefined;
    });
    return subscription.then(
      () => greet(room),
      () => undefined,
    );
  };
  const drop = (room: LocalRoom) => {
    rooms.delete(room.name);
    room.subscription?.then((unsubscribe) => unsubscribe()).catch(() => undefined);
  };
  /** Tells what could not be told. */
  const makeUp = () => {
    const names = [...untold];
    untold.clear();
    for (const name of names) {
      const room = rooms.get(name);
      if (room) {
        startOver(room);
        greet(room);
      } else publish(emptyRoom({ name, boardId: '' }, ++epochs), 'here', []);
    }
  };

  const stopHearing = await ephemeral.subscribe(ALIVE_CHANNEL, (text) => {
    const [from, isGone] = JSON.parse(text) as [string, boolean];
    if (from === origin) return;
    if (isGone) forgetProcess(from);
    else isHeard(from);
  });
  const stopResuming = ephemeral.onResumed(() => {
    noticeInterruption();
    lost.clear();
    for (const room of rooms.values()) if (room.subscription) greet(room);
  });
  const sayAlive = (isGone: boolean) =>
    ephemeral.publish(ALIVE_CHANNEL, JSON.stringify([origin, isGone])).catch(() => undefined);
  let sinceAlive = 0;
  const timer = setInterval(() => {
    noticeInterruption();
    if (ephemeral.delivering) {
      makeUp();
      for (const room of rooms.values()) if (room.subscription === undefined) subscribe(room);
    }
    sinceAlive += 1_000;
    if (sinceAlive < ALIVE_EVERY_MS) return;
    sinceAlive = 0;
    sayAlive(false);
    const deadline = performance.now() - DEAD_AFTER_MS;
    for (const [from, heardAt] of processes) {
      if (heardAt > deadline) continue;
      forgetProcess(from);
      lost.add(from);
    }
    // Most of them are gone for good.
    for (const from of lost) if (lost.size > MOST_LOST) lost.delete(from);
  }, 1_000).unref();

  return {
    join: async (name, boardId, member) => {
      let room = rooms.get(name);
      const isNew = !room;
      if (!room) {
        room = emptyRoom({ name, boardId }, ++epochs);
        rooms.set(name, room);
      }
      const joined = encodeControl({ type: 'peer-joined', room: name, peer: member.peer });
      tell(room, joined, member);
      room.members.add(member);
      // The first one here asks the others who is there; after that this process knows.
      if (isNew) await subscribe(room);
      else {
        await room.subscription?.catch(() => undefined);
        publish(room, 'joined', member.peer);
      }
      const peers = [...peersOf(room), ...room.remote.keys()].filter((peer) => peer !== member.peer);
      return { room, peers };
    },
    leave: (left, member) => {
      const room = left as LocalRoom;
      if (!room.members.delete(member)) return;
      tell(room, encodeControl({ type: 'peer-left', room: room.name, peer: member.peer }));
      publish(room, 'left', member.peer);
      if (room.members.size === 0) drop(room);
    },
    relay: (entered, sender, payload) => {
      const room = entered as LocalRoom;
      if (room.members.size > 1) tell(room, encodeFrame('binary', payload), sender);
      if (room.remote.size > 0) publish(room, 'frame', payload.toString('base64'));
    },
    close: async () => {
      clearInterval(timer);
      stopResuming();
      await sayAlive(true);
      for (const room of [...rooms.values()]) drop(room);
      await stopHearing().catch(() => undefined);
    },
  };
}

function emptyRoom({ name, boardId }: Room, epoch: number): LocalRoom {
  return { name, boardId, epoch, members: new Set(), remote: new Map(), subscription: undefined };
}

function channelOf(room: string): string {
  return `relay:${room}`;
}
