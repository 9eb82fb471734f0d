// A relay without sockets and keys, under vitest's clock: as far away as a test wants it, and as unreliable.
import type { RelayConnection, RoomHandler } from '../../src/client/relay.ts';
import type { OpenBoard } from '../../src/client/workspace.ts';

export const BOARD: OpenBoard = { id: 'board', workspaceId: 'workspace', name: 'Board', keys: new Map() };

/** Somebody's connection, as a test sees it. */
export interface FakeConnection extends RelayConnection {
  /** What was sent over it. */
  sent: Uint8Array[];
  receivedBytes: number;
  /** Whether what others send reaches it, and what it sends reaches others. */
  hears: boolean;
  speaks: boolean;
  /** Loses the connection; the others are told. */
  lose(): void;
  /** Has it again. */
  recover(): void;
  /** Tells it alone that somebody is (again) there. */
  meet(other: FakeConnection): void;
}

interface Member {
  peer: string;
  /** When all that was sent to it will have arrived. */
  busyUntil: number;
  handler: RoomHandler;
  connection: FakeConnection;
}

const PIECE_BYTES = 240 * 1024;

/** A relay with one room; everything takes `latencyMs` to it and as long from it, and more where it is much. */
export function fakeRelay({ latencyMs = 0, bytesPerSecond = Number.POSITIVE_INFINITY } = {}) {
  const members: Member[] = [];
  let entries = 0;
  let gathering: { count: number; waiting: Member[] } | undefined;

  const later = (action: () => void) => {
    setTimeout(action, latencyMs);
  };
  const tell = (member: Member, action: () => void) =>
    later(() => {
      if (members.includes(member)) action();
    });
  const othersOf = (member: Member) => members.filter((other) => other !== member);
  const admit = (member: Member) => {
    members.push(member);
    const others = othersOf(member);
    for (const other of others) tell(other, () => other.handler.peerJoined(member.peer));
    return others.map(({ peer }) => peer);
  };
  const enter = (member: Member) => {
    if (!gathering) {
      const peers = admit(member);
      tell(member, () => member.handler.joined(peers));
      return;
    }
    gathering.waiting.push(member);
    if (gathering.waiting.length < gathering.count) return;
    const { waiting } = gathering;
    gathering = undefined;
    members.push(...waiting);
    for (const one of waiting) tell(one, () => one.handler.joined(othersOf(one).map(({ peer }) => peer)));
  };
  const remove = (member: Member) => {
    if (!members.includes(member)) return;
    members.splice(members.indexOf(member), 1);
    for (const other of members) tell(other, () => other.handler.peerLeft(member.peer));
  };
  const deliver = (member: Member, bytes: number, action: () => void) => {
    member.busyUntil = Math.max(member.busyUntil, Date.now()) + (bytes / bytesPerSecond) * 1_000;
    setTimeout(
      () => {
        if (!members.includes(member) || !member.connection.hears) return;
        member.connection.receivedBytes += bytes;
        action();
      },
      member.busyUntil - Date.now() + latencyMs,
    );
  };
  const relay = (sender: Member, payload: Uint8Array) => {
    if (!members.includes(sender)) return;
    for (const member of othersOf(sender)) {
      for (let rest = payload.length; rest > PIECE_BYTES; rest -= PIECE_BYTES) {
        deliver(member, PIECE_BYTES, () => member.handler.receiving?.());
      }
      deliver(member, payload.length % PIECE_BYTES, () => member.handler.receive(payload));
    }
  };

  return {
    /** Of the next so many who join, each finds the others there: as in processes that hear of each other. */
    gather: (count: number) => {
      gathering = { count, waiting: [] };
    },
    connect: (): FakeConnection => {
      let member: Member | undefined;
      const open = (handler: RoomHandler) => {
        const entering = { peer: `peer-${++entries}`, busyUntil: 0, handler, connection };
        member = entering;
        later(() => {
          if (member === entering) enter(entering);
        });
      };
      const close = () => {
        const leaving = member;
        member = undefined;
        if (leaving) later(() => remove(leaving));
      };
      let handlerOf: RoomHandler | undefined;
      const connection: FakeConnection = {
        sent: [],
        receivedBytes: 0,
        hears: true,
        speaks: true,
        join: (_room, _board, handler) => {
          handlerOf = handler;
          open(handler);
          return {
            send: (payload) => {
              const sender = member;
              if (!sender || !members.includes(sender) || !connection.speaks) return;
              connection.sent.push(payload);
              later(() => relay(sender, payload));
            },
            leave: close,
          };
        },
        close,
        lose: () => {
          const lost = member;
          member = undefined;
          if (lost) remove(lost);
          handlerOf?.lost();
        },
        recover: () => {
          if (handlerOf) open(handlerOf);
        },
        meet: (other) => {
          const peer = members.find(({ connection: of }) => of === other)?.peer ?? '';
          handlerOf?.peerJoined(peer);
        },
      };
      return connection;
    },
  };
}
