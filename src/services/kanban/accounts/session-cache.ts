// Who is signed in, in memory: each request asks, and few of the answers change. What ends a session is announced to
// every process; for the announcement that never came, what is older than a minute is asked for again.
import { LRUCache } from 'lru-cache';
import type { Platform } from '../../../platform/platform.ts';

/** Who asks. */
export interface Principal {
  accountId: string;
  sessionId: string;
}

export interface KnownSession extends Principal {
  createdAt: number;
  lastUsedAt: number;
}

export interface SessionCache {
  get(tokenHash: string): KnownSession | undefined;
  /** Remembers a session; nothing when a session ended since `generation` was read. */
  set(tokenHash: string, session: KnownSession, generation: number): void;
  /** Grows with every ended session heard of, and when some may not have been heard of. */
  readonly generation: number;
  /** Makes every process forget the sessions of an account, or one of them. */
  forget(ended: { accountId: string; sessionId?: string }): Promise<void>;
  close(): Promise<void>;
}

/** Messages are the account, and the session if it is but one. */
export const SESSIONS_ENDED_CHANNEL = 'kanban-sessions-ended';
const MOST_SESSIONS = 50_000;
const FRESH_MS = 60_000;

/** Opens the cache of a process. */
export async function openSessionCache({ ephemeral, log }: Platform): Promise<SessionCache> {
  const sessions = new LRUCache<string, KnownSession>({ max: MOST_SESSIONS, ttl: FRESH_MS });
  let generation = 0;
  const unsubscribe = await ephemeral.subscribe(SESSIONS_ENDED_CHANNEL, (message) => {
    generation++;
    const [accountId, sessionId] = message.split(' ');
    for (const [tokenHash, session] of sessions) {
      if (session.accountId !== accountId) continue;
      if (sessionId === undefined || session.sessionId === sessionId) sessions.delete(tokenHash);
    }
  });
  // The end of any session may have been missed.
  const stopResuming = ephemeral.onResumed(() => {
    generation++;
    sessions.clear();
  });
  return {
    get: (tokenHash) => (ephemeral.delivering ? sessions.get(tokenHash) : undefined),
    set: (tokenHash, session, readAt) => {
      if (readAt === generation && ephemeral.delivering) sessions.set(tokenHash, session);
    },
    get generation() {
      return generation;
    },
    forget: async ({ accountId, sessionId }) => {
      await ephemeral.announce(
        SESSIONS_ENDED_CHANNEL,
        sessionId === undefined ? accountId : `${accountId} ${sessionId}`,
      );
    },
    close: async () => {
      stopResuming();
      await unsubscribe().catch((error: unknown) => log.debug({ error }, 'unsubscribing failed'));
    },
  };
}
