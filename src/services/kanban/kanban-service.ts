// What the kanban functions stand on: the platform, and the state that this service keeps in a process.
import type { Platform } from '../../platform/platform.ts';
import { openSessionCache, type SessionCache } from './accounts/session-cache.ts';
import { type BoardTurns, createBoardTurns } from './boards/board-turns.ts';

export interface KanbanService {
  platform: Platform;
  sessions: SessionCache;
  turns: BoardTurns;
  close(): Promise<void>;
}

/** Opens the kanban service of a process. */
export async function openKanbanService(platform: Platform): Promise<KanbanService> {
  const sessions = await openSessionCache(platform);
  return { platform, sessions, turns: createBoardTurns(), close: () => sessions.close() };
}
