// How those who have a document open tell each other what they lack, and who begins it where nobody has it yet
// (docs/relay.md). All that is said is heard by the whole room: one question, and one answer, serves everybody.
import * as Y from 'yjs';
import { type Alarm, createAlarm } from './alarm.ts';
import { concat } from './bytes.ts';

/** What one says to the room: the first byte of a payload. */
export const KIND = { ask: 0, update: 1, awareness: 2, have: 3, none: 4 } as const;

/** The origin of what others changed. */
export const REMOTE = Symbol('of somebody else');

export interface DocumentSync {
  joined(peers: readonly string[]): void;
  peerJoined(peer: string): void;
  peerLeft(peer: string): void;
  /** A payload about the document has come. */
  receive(kind: number | undefined, content: Uint8Array): void;
  /** A piece of a payload has come. */
  receiving(): void;
  /** Says and asks nothing, until a room is joined again. */
  stop(): void;
}

export interface DocumentSyncOptions {
  doc: Y.Doc;
  send: (kind: number, content: Uint8Array) => void;
  /** Makes the document what it begins with, where nobody has it. */
  seed: () => void;
  /** The document is what the others have, or has begun. */
  onSynced: () => void;
  random: () => number;
}

/** What somebody without a document says to others without one: who they are, and whom they have heard say so. */
interface None {
  id: number;
  round: number;
  heard: Array<[id: number, round: number]>;
}

// Of all who could say the same, the first one does; the more there are, the further apart they try.
const SPREAD_MS = 50;
const LONGEST_SPREAD_MS = 5_000;
// Whoever is new speaks first; after that there is mostly nothing left to say.
const GREET_MS = 100;
const ASK_AGAIN_MS = 2_000;
const LONGEST_ASK_AGAIN_MS = 30_000;
const MOST_TIMES_ASKED = 6;
// Longer than the relay takes to notice a connection that is dead. Who lives, and is silent, cannot read us.
const SILENCE_MS = 60_000;

/** Keeps a document the same as that of everybody else in a room. */
export function syncDocument({ doc, send, seed, onSynced, random }: DocumentSyncOptions): DocumentSync {
  const peers = new Set<string>();
  const id = doc.clientID;
  let isSynced = false;
  /** What those who have the document said that they have, while we lack some of it. */
  let wanted: Y.Snapshot | undefined;
  /** What those have who wait for our answer. */
  let owed: Map<number, number> | undefined;
  let asked = 0;
  // A round ends when somebody leaves: what they agreed to would count for somebody who is silent.
  let round = 0;
  const heard = new Map<number, number>();
  const agreed = new Set<number>();

  const spread = () => random() * Math.min(Math.max(peers.size - 1, 0) * SPREAD_MS, LONGEST_SPREAD_MS);
  const sayNone = () => {
    if (!isSynced) send(KIND.none, encodeNone({ id, round, heard: [...heard] }));
  };
  const sayWhatWeHave = () => {
    greeting.stop();
    const snapshot = Y.encodeSnapshot(Y.snapshot(doc));
    send(KIND.ask, concat(Uint8Array.of(isSynced ? 1 : 0), snapshot));
    sayNone();
  };
  const askAgain = () =>
    asking.restart(Math.min(ASK_AGAIN_MS * 2 ** Math.max(asked - 1, 0), LONGEST_ASK_AGAIN_MS));
  const isBehind = () =>
    !isSynced ||
    doc.store.pendingStructs !== null ||
    doc.store.pendingDs !== null ||
    (wanted !== undefined && !covers(Y.snapshot(doc), wanted));
  const greeting: Alarm = createAlarm(sayWhatWeHave);
  const saying: Alarm = createAlarm(sayNone);
  const asking: Alarm = createAlarm(() => {
    // Who has the document, and could not get more of it in all that time: those who had more are gone.
    const isDone = !isBehind() || (isSynced && asked >= MOST_TIMES_ASKED);
    if (peers.size === 0 || isDone) {
      wanted = undefined;
      asked = 0;
      return;
    }
    asked++;
    sayWhatWeHave();
    askAgain();
  });
  const answering: Alarm = createAlarm(() => {
    if (!owed) return;
    const update = Y.encodeStateAsUpdate(doc, Y.encodeStateVector(owed));
    owed = undefined;
    // What we have has been said with it. It goes first, so that nobody else begins to answer.
    greeting.stop();
    send(KIND.have, Y.encodeSnapshot(Y.snapshot(doc)));
    send(KIND.update, update);
  });
  const silence: Alarm = createAlarm(() => {
    if (isSynced) return;
    if (isOursToBegin()) begin();
    else silence.restart(SILENCE_MS);
  });
  const settle = () => {
    if (isSynced) return;
    isSynced = true;
    asked = 0;
    for (const alarm of [saying, silence]) alarm.stop();
    heard.clear();
    onSynced();
  };
  const isOursToBegin = () => [...agreed].every((other) => other >= id);
  const begin = () => {
    wanted = undefined;
    seed();
    settle();
    if (peers.size > 0) send(KIND.have, Y.encodeSnapshot(Y.snapshot(doc)));
  };
  const want = (theirs: Y.Snapshot) => {
    wanted = wanted ? union(wanted, theirs) : theirs;
  };
  /** Whether we have all that somebody has who has the document: then it is ours as well. */
  const catchUp = (theirs: Y.Snapshot) => {
    const ours = Y.snapshot(doc);
    if (!covers(ours, theirs)) return false;
    // What was written here before may have been said to nobody.
    if (!isSynced && !covers(theirs, ours)) greeting.set(GREET_MS + spread());
    settle();
    if (wanted && covers(ours, wanted)) {
      wanted = undefined;
      asked = 0;
    }
    if (!isBehind()) asking.stop();
    return true;
  };
  const owe = (base: Map<number, number>) => {
    owed = owed ? leastOf(owed, base) : base;
    answering.set(spread());
  };

  const hearAsk = (theirs: Y.Snapshot, hasDocument: boolean) => {
    const ours = Y.snapshot(doc);
    const [weLack, theyLack] = [!covers(ours, theirs), !covers(theirs, ours)];
    if (!weLack && !theyLack) greeting.stop();
    // The answer to them is one to us.
    if (isSynced && !weLack && asking.isSet()) askAgain();
    if (isSynced && (theyLack || !hasDocument)) owe(theirs.sv);
    if (!weLack || !hasDocument) return;
    want(theirs);
    asking.restart(spread());
  };
  const hearHave = (theirs: Y.Snapshot) => {
    const ours = Y.snapshot(doc);
    const [weLack, theyLack] = [!covers(ours, theirs), !covers(theirs, ours)];
    if (!weLack && !theyLack) greeting.stop();
    if (owed && theyLack) owed = mostOf(owed, theirs.sv);
    else {
      owed = undefined;
      answering.stop();
    }
    if (catchUp(theirs)) return;
    // It is on its way.
    want(theirs);
    askAgain();
    receiving();
  };
  const hearNone = (none: None) => {
    if (isSynced) return;
    if (heard.get(none.id) !== none.round) {
      heard.set(none.id, none.round);
      saying.set(spread());
    }
    if (none.heard.some(([other, theirRound]) => other === id && theirRound === round)) agreed.add(none.id);
    if (agreed.size >= peers.size && isOursToBegin()) begin();
  };
  const hearUpdate = (update: Uint8Array) => {
    Y.applyUpdate(doc, update, REMOTE);
    if (wanted) catchUp(wanted);
    // It builds upon what we have not.
    if (isBehind() && !asking.isSet()) asking.set(GREET_MS + spread());
  };
  const startRound = () => {
    round++;
    agreed.clear();
  };
  const receiving = () => {
    if (asking.isSet()) askAgain();
    if (silence.isSet()) silence.restart(SILENCE_MS);
  };

  return {
    joined: (present) => {
      peers.clear();
      for (const peer of present) peers.add(peer);
      startRound();
      if (peers.size > 0) {
        asked = 1;
        sayWhatWeHave();
        askAgain();
        if (!isSynced) silence.restart(SILENCE_MS);
      } else if (!isSynced) begin();
    },
    peerJoined: (peer) => {
      peers.add(peer);
      // Somebody new, or somebody whose relay was out of reach.
      greeting.set(GREET_MS + spread());
    },
    peerLeft: (peer) => {
      peers.delete(peer);
      if (isSynced) return;
      if (peers.size === 0) begin();
      else {
        startRound();
        asking.restart(spread());
      }
    },
    receive: (kind, content) => {
      if (kind === KIND.ask) hearAsk(Y.decodeSnapshot(content.subarray(1)), content[0] === 1);
      else if (kind === KIND.update) hearUpdate(content);
      else if (kind === KIND.have) hearHave(Y.decodeSnapshot(content));
      else if (kind === KIND.none) hearNone(decodeNone(content));
    },
    receiving,
    stop: () => {
      for (const alarm of [greeting, saying, asking, answering, silence]) alarm.stop();
      owed = undefined;
      peers.clear();
    },
  };
}

/** Whether somebody who has the one lacks nothing of the other, insertions and deletions. */
function covers(one: Y.Snapshot, other: Y.Snapshot): boolean {
  for (const [client, clock] of other.sv) if ((one.sv.get(client) ?? 0) < clock) return false;
  return Y.equalDeleteSets(Y.mergeDeleteSets([one.ds]), Y.mergeDeleteSets([one.ds, other.ds]));
}

function union(one: Y.Snapshot, other: Y.Snapshot): Y.Snapshot {
  return Y.createSnapshot(Y.mergeDeleteSets([one.ds, other.ds]), mostOf(one.sv, other.sv));
}

function leastOf(one: Map<number, number>, other: Map<number, number>): Map<number, number> {
  return new Map([...one].map(([client, clock]) => [client, Math.min(clock, other.get(client) ?? 0)]));
}

function mostOf(one: Map<number, number>, other: Map<number, number>): Map<number, number> {
  const most = new Map(one);
  for (const [client, clock] of other) most.set(client, Math.max(clock, most.get(client) ?? 0));
  return most;
}

function encodeNone(none: None): Uint8Array {
  return new TextEncoder().encode(JSON.stringify(none));
}

function decodeNone(content: Uint8Array): None {
  return JSON.parse(new TextDecoder().decode(content)) as None;
}
