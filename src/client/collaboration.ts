// Editing together, and seeing each other, over the relay: a Yjs document for the description of a card, awareness for
// a board. The relay carries ciphertext; what it says is between those who hold the board key.
import {
  Awareness,
  applyAwarenessUpdate,
  encodeAwarenessUpdate,
  removeAwarenessStates,
} from 'y-protocols/awareness';
import * as Y from 'yjs';
import { concat } from './bytes.ts';
import { KIND, REMOTE, syncDocument } from './document-sync.ts';
import type { RelayConnection, RelayRoom, RoomHandler } from './relay.ts';
import type { OpenBoard } from './workspace.ts';

/** A document that several people edit. */
export interface SharedDocument {
  doc: Y.Doc;
  /** The description: a text of `doc`. */
  text: Y.Text;
  /** Who else edits, and where their cursors are. */
  awareness: Awareness;
  /** Resolves once the document is what the others have, or what was given, where nobody else has it. */
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
  /** At least 0, less than 1: spreads out who answers first. `Math.random` unless told otherwise. */
  random?: () => number;
  /** The room is closed to us: access has ended. */
  onRefused?: (code: string) => void;
}

const TEXT = 'description';

/** Opens the description of a card for editing together. */
export function openCardDocument(
  relay: RelayConnection,
  board: OpenBoard,
  cardId: string,
  { initialText = '', random = Math.random, onRefused }: DocumentOptions = {},
): SharedDocument {
  const doc = new Y.Doc();
  const text = doc.getText(TEXT);
  const awareness = new Awareness(doc);
  const synced = Promise.withResolvers<void>();
  let room: RelayRoom | undefined;

  const send = (kind: number, content: Uint8Array) => room?.send(message(kind, content));
  const sync = syncDocument({
    doc,
    send,
    random,
    seed: () => {
      if (text.length === 0) Y.applyUpdate(doc, seedUpdate(initialText));
    },
    onSynced: () => synced.resolve(),
  });
  room = join(relay, `card:${cardId}`, board, doc, {
    joined: (peers) => {
      sync.joined(peers);
      introduce(awareness);
    },
    peerJoined: (peer) => {
      sync.peerJoined(peer);
      introduce(awareness);
    },
    peerLeft: sync.peerLeft,
    lost: () => {
      sync.stop();
      removeOthers(awareness);
    },
    refused: (code) => {
      sync.stop();
      synced.resolve();
      onRefused?.(code);
    },
    receiving: sync.receiving,
    receive: (payload) => {
      const [kind, content] = [payload[0], payload.subarray(1)];
      if (kind === KIND.awareness) applyAwarenessUpdate(awareness, content, REMOTE);
      else sync.receive(kind, content);
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
      sync.stop();
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
  room = join(relay, `board:${board.id}`, board, doc, {
    joined: () => introduce(awareness),
    peerJoined: () => introduce(awareness),
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

function join(
  relay: RelayConnection,
  room: string,
  board: OpenBoard,
  doc: Y.Doc,
  handler: RoomHandler,
): RelayRoom {
  try {
    return relay.join(room, board, handler);
  } catch (error) {
    // Awareness of it would go on for ever.
    doc.destroy();
    throw error;
  }
}

function message(kind: number, content: Uint8Array): Uint8Array {
  return concat(Uint8Array.of(kind), content);
}

/** Says again who we are. As news: whoever lost us remembers the clock, and believes nothing that is not newer. */
function introduce(awareness: Awareness): void {
  awareness.setLocalState(awareness.getLocalState());
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
