// Editing together, and seeing each other, over the relay: a Yjs document for the description of a card, awareness for
// a board. The relay carries ciphertext; what it says is between those who hold the board key.
import {
  Awareness,
  applyAwarenessUpdate,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness';
import * as Y from 'yjs';
import type { RelayConnection, RelayRoom } from './relay.ts';
import type { OpenBoard } from './workspace.ts';

/** A document that several people edit. */
export interface SharedDocument {
  doc: Y.Doc;
  /** The description: a text of `doc`. */
  text: Y.Text;
  /** Who else edits, and where their cursors are. */
  awareness: Awareness;
  /** Resolves once the document is what the others have, or what was given, where nobody else is. */
  synced: Promise<void>;
  close(): void;
}

/** Who is at a board. */
export interface Presence {
  awareness: Awareness;
  close(): void;
}

export interface DocumentOptions {
  /** The description as it is stored, decrypted: what the document begins with where nobody else has it open. */
  initialText?: string;
  /** The room is closed to us: access has ended. */
  onRefused?: (code: string) => void;
}

const KIND = { stateVector: 0, update: 1, awareness: 2, synced: 3 } as const;
const TEXT = 'description';
// Of peers that do not say that they have the document: they have just left, or just come as we have.
const SYNC_TIMEOUT_MS = 1_000;

/** Opens the description of a card for editing together. */
export function openCardDocument(
  relay: RelayConnection,
  board: OpenBoard,
  cardId: string,
  { initialText = '', onRefused }: DocumentOptions = {},
): SharedDocument {
  const doc = new Y.Doc();
  const text = doc.getText(TEXT);
  const awareness = new Awareness(doc);
  const synced = Promise.withResolvers<void>();
  let isSynced = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let room: RelayRoom | undefined;

  const send = (kind: number, content: Uint8Array) => room?.send(message(kind, content));
  const settle = () => {
    if (isSynced) return;
    isSynced = true;
    clearTimeout(timer);
    synced.resolve();
  };
  const seed = () => {
    if (!isSynced && text.length === 0) Y.applyUpdate(doc, seedUpdate(initialText));
    settle();
  };
  const introduce = () => {
    send(KIND.stateVector, Y.encodeStateVector(doc));
    send(KIND.awareness, encodeAwarenessUpdate(awareness, [doc.clientID]));
  };
  room = relay.join(`card:${cardId}`, board, {
    joined: (peers) => {
      introduce();
      if (peers.length === 0) seed();
      else timer = setTimeout(seed, SYNC_TIMEOUT_MS);
    },
    // Somebody new, or somebody whose relay was out of reach: each tells the other what it lacks.
    peerJoined: introduce,
    peerLeft: () => undefined,
    lost: () => removeOthers(awareness),
    refused: (code) => {
      settle();
      onRefused?.(code);
    },
    receive: (payload) => {
      const content = payload.subarray(1);
      if (payload[0] === KIND.stateVector) {
        send(KIND.update, Y.encodeStateAsUpdate(doc, content));
        if (isSynced) send(KIND.synced, new Uint8Array());
      } else if (payload[0] === KIND.update) {
        Y.applyUpdate(doc, content, REMOTE);
      } else if (payload[0] === KIND.synced) {
        settle();
      } else if (payload[0] === KIND.awareness) applyAwarenessUpdate(awareness, content, REMOTE);
    },
  });
  doc.on('update', (update: Uint8Array, origin: unknown) => {
    if (origin !== REMOTE) send(KIND.update, update);
  });
  shareAwareness(awareness, (content) => send(KIND.awareness, content));
  return {
    doc,
    text,
    awareness,
    synced: synced.promise,
    close: () => {
      clearTimeout(timer);
      removeAwarenessStates(awareness, [doc.clientID], 'closed');
      room?.leave();
      awareness.destroy();
      doc.destroy();
    },
  };
}

/** Shows who is at a board: each sets `awareness.setLocalState(…)` and reads `awareness.getStates()`. */
export function openPresence(relay: RelayConnection, board: OpenBoard): Presence {
  const doc = new Y.Doc();
  const awareness = new Awareness(doc);
  let room: RelayRoom | undefined;
  const send = (content: Uint8Array) => room?.send(message(KIND.awareness, content));
  const introduce = () => send(encodeAwarenessUpdate(awareness, [doc.clientID]));
  room = relay.join(`board:${board.id}`, board, {
    joined: introduce,
    peerJoined: introduce,
    peerLeft: () => undefined,
    lost: () => removeOthers(awareness),
    refused: () => removeOthers(awareness),
    receive: (payload) => {
      if (payload[0] === KIND.awareness) applyAwarenessUpdate(awareness, payload.subarray(1), REMOTE);
    },
  });
  shareAwareness(awareness, send);
  return {
    awareness,
    close: () => {
      removeAwarenessStates(awareness, [doc.clientID], 'closed');
      room?.leave();
      awareness.destroy();
      doc.destroy();
    },
  };
}

const REMOTE = Symbol('of somebody else');

function message(kind: number, content: Uint8Array): Uint8Array {
  const whole = new Uint8Array(1 + content.length);
  whole[0] = kind;
  whole.set(content, 1);
  return whole;
}

function shareAwareness(awareness: Awareness, send: (content: Uint8Array) => void): void {
  awareness.on('update', (changes: Record<'added' | 'updated' | 'removed', number[]>, origin: unknown) => {
    if (origin === REMOTE) return;
    send(encodeAwarenessUpdate(awareness, [...changes.added, ...changes.updated, ...changes.removed]));
  });
}

function removeOthers(awareness: Awareness): void {
  const others = [...awareness.getStates().keys()].filter((id) => id !== awareness.clientID);
  removeAwarenessStates(awareness, others, REMOTE);
}

/**
 * The update that makes a document of a text. The same text makes the same update: of two who begin at the same moment
 * neither doubles it.
 */
function seedUpdate(text: string): Uint8Array {
  const doc = new Y.Doc();
  doc.clientID = hashOf(text);
  doc.getText(TEXT).insert(0, text);
  return Y.encodeStateAsUpdate(doc);
}

/** FNV-1a, 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193) >>> 0;
  }
  return hash;
}
