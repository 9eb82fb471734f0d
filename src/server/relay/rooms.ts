// The rooms of one relay process: who is in them, here and in the other processes, and how frames get to all.
import { randomUUID } from 'node:crypto';
import { messageOf } from '../../platform/errors.ts';
import type { Platform } from '../../platform/platform.ts';
import { encodeControl, encodeFrame } from './frames.ts';

/** Somebody in a room of this process. */
export interface Member {
  /** Names the connection to the others. */
  readonly peer: string;
  /** Takes a whole frame. */
  send(frame: Buffer): void;
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
  /** Peers in other processes, and which process has them. */
  remote: Map<string, string>;
  /** Resolves when messages of the other processes arrive; the answer ends that. */
  subscription: Promise<() => Promise<void>> | undefined;
}

/** Between processes: who says it, what, and of what. Frames are base64. */
type Message = [
  origin: string,
  kind: 'hello' | 'here' | 'joined' | 'left' | 'frame' | 'gone',
  value: string | string[],
];

const ALIVE_CHANNEL = 'relay-alive';
const ALIVE_EVERY_MS = 2_000;
const DEAD_AFTER_MS = 6_000;

/** Opens the rooms of a process. */
export async function openRooms({ ephemeral, log }: Pick<Platform, 'ephemeral' | 'log'>): Promise<Rooms> {
  const origin = randomUUID();
  const rooms = new Map<string, LocalRoom>();
  const processes = new Map<string, number>();
  let wasDelivering = true;

  const publish = (room: LocalRoom, kind: Message[1], value: Message[2]) => {
    ephemeral
      .publish(channelOf(room.name), JSON.stringify([origin, kind, value] satisfies Message))
      .catch((error: unknown) => log.debug({ error: messageOf(error) }, 'the other relays were not told'));
  };
  const tell = (room: LocalRoom, frame: Buffer, except?: Member) => {
    for (const member of room.members) if (member !== except) member.send(frame);
  };
  const peerJoined = (room: LocalRoom, peer: string, from: string) => {
    if (room.remote.has(peer)) return;
    room.remote.set(peer, from);
    tell(room, encodeControl({ type: 'peer-joined', room: room.name, peer }));
  };
  const peerLeft = (room: LocalRoom, peer: string) => {
    if (room.remote.delete(peer)) tell(room, encodeControl({ type: 'peer-left', room: room.name, peer }));
  };
  const forget = (isMeant: (from: string) => boolean) => {
    for (const room of rooms.values()) {
      for (const [peer, from] of room.remote) if (isMeant(from)) peerLeft(room, peer);
    }
  };
  const peersOf = (room: LocalRoom) => [...room.members].map(({ peer }) => peer);
  const hear = (room: LocalRoom, text: string) => {
    const [from, kind, value] = JSON.parse(text) as Message;
    if (from === origin) return;
    processes.set(from, performance.now());
    if (kind === 'frame') return tell(room, encodeFrame('binary', Buffer.from(String(value), 'base64')));
    for (const peer of [value].flat()) {
      if (kind === 'left') peerLeft(room, peer);
      else peerJoined(room, peer, from);
    }
    if (kind === 'hello') publish(room, 'here', peersOf(room));
  };
  const greet = (room: LocalRoom) =>
    ephemeral
      .announce(channelOf(room.name), JSON.stringify([origin, 'hello', peersOf(room)] satisfies Message))
      .catch((error: unknown) => log.debug({ error: messageOf(error) }, 'the other relays were not greeted'));
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

  const stopHearing = await ephemeral.subscribe(ALIVE_CHANNEL, (text) => {
    const [from, isGone] = JSON.parse(text) as [string, boolean];
    if (isGone) {
      processes.delete(from);
      forget((process) => process === from);
    } else processes.set(from, performance.now());
  });
  const sayAlive = (isGone: boolean) =>
    ephemeral.publish(ALIVE_CHANNEL, JSON.stringify([origin, isGone])).catch(() => undefined);
  let sinceAlive = 0;
  const timer = setInterval(() => {
    const { delivering } = ephemeral;
    // What the others send meanwhile is lost: they are gone until they greet again, and then everybody syncs anew.
    if (wasDelivering && !delivering) forget(() => true);
    if (delivering) {
      for (const room of rooms.values()) {
        if (room.subscription === undefined) subscribe(room);
        else if (!wasDelivering) greet(room);
      }
    }
    wasDelivering = delivering;
    sinceAlive += 1_000;
    if (sinceAlive < ALIVE_EVERY_MS) return;
    sinceAlive = 0;
    sayAlive(false);
    const deadline = performance.now() - DEAD_AFTER_MS;
    for (const [from, heardAt] of processes) {
      if (heardAt > deadline) continue;
      processes.delete(from);
      forget((process) => process === from);
    }
  }, 1_000).unref();

  return {
    join: async (name, boardId, member) => {
      let room = rooms.get(name);
      const isNew = !room;
      if (!room) {
        room = { name, boardId, members: new Set(), remote: new Map(), subscription: undefined };
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
      await sayAlive(true);
      for (const room of [...rooms.values()]) drop(room);
      await stopHearing().catch(() => undefined);
    },
  };
}

function channelOf(room: string): string {
  return `relay:${room}`;
}
