// Access that ends reaches what is open: streams and relay connections of every process look again, within a second.
import { sql } from 'kysely';
import { messageOf } from '../../../platform/errors.ts';
import { SESSIONS_ENDED_CHANNEL } from '../accounts/session-cache.ts';
import { SESSION_IDLE_MS, SESSION_LIFETIME_MS } from '../accounts/sessions.ts';
import type { KanbanService } from '../kanban-service.ts';
import { wakeDispatcher } from '../webhooks/announce-deliveries.ts';

const CHANNEL = 'kanban-access-ended';

/** What ended: of whom, and where. Whoever holds something open that matches has to ask again whether they may. */
export interface EndedAccess {
  /** Absent: of everybody. */
  accountId?: string;
  /** Absent: everywhere. */
  workspaceId?: string;
}

/** Tells every process that access may have ended, after the commit; also wakes the dispatcher for what was told last. */
export async function announceEnd(
  { platform }: Pick<KanbanService, 'platform'>,
  ended: EndedAccess,
): Promise<void> {
  const { ephemeral, log } = platform;
  const missed = (error: unknown) =>
    log.debug({ error: messageOf(error) }, 'an end of access was not announced; it will be found');
  wakeDispatcher({ platform });
  await ephemeral.announce(CHANNEL, JSON.stringify(ended)).catch(missed);
}

/** Hears of every end of access, that of sessions included; the answer ends that. */
export async function hearOfEnds(
  { platform }: Pick<KanbanService, 'platform'>,
  handler: (ended: EndedAccess) => void,
): Promise<() => Promise<void>> {
  const { ephemeral } = platform;
  const stops = [
    await ephemeral.subscribe(CHANNEL, (message) => handler(JSON.parse(message) as EndedAccess)),
    await ephemeral.subscribe(SESSIONS_ENDED_CHANNEL, (message) => {
      const [accountId = ''] = message.split(' ');
      handler({ accountId });
    }),
  ];
  return async () => {
    await Promise.all(stops.map((stop) => stop()));
  };
}

/** Who holds something open, and of what. */
export interface Holder {
  accountId: string;
  sessionId: string;
  boardId: string;
}

/** Those of the holders whose session goes on and who may still see their board, in one statement. */
export async function stillAllowed<T extends Holder>(
  { platform }: Pick<KanbanService, 'platform'>,
  holders: readonly T[],
): Promise<Set<T>> {
  if (holders.length === 0) return new Set();
  const before = (ageMs: number) => new Date(platform.clock.now() - ageMs);
  const { rows } = await sql<{ number: number }>`
    SELECT holder.number
    FROM unnest(
      ${holders.map(({ accountId }) => accountId)}::text[], ${holders.map(({ sessionId }) => sessionId)}::text[],
      ${holders.map(({ boardId }) => boardId)}::text[]
    ) WITH ORDINALITY AS holder (account_id, session_id, board_id, number)
    JOIN session ON session.id = holder.session_id AND session.account_id = holder.account_id
    JOIN board ON board.id = holder.board_id
    JOIN workspace_member ON workspace_member.workspace_id = board.workspace_id
      AND workspace_member.account_id = holder.account_id
    WHERE session.created_at > ${before(SESSION_LIFETIME_MS)} AND session.last_used_at > ${before(SESSION_IDLE_MS)}`.execute(
    platform.database,
  );
  return new Set(rows.map(({ number }) => holders[Number(number) - 1] as T));
}

/** Those of the sessions that go on, in one statement. */
export async function liveSessions(
  { platform }: Pick<KanbanService, 'platform'>,
  sessionIds: readonly string[],
): Promise<Set<string>> {
  if (sessionIds.length === 0) return new Set();
  const before = (ageMs: number) => new Date(platform.clock.now() - ageMs);
  const rows = await platform.database
    .selectFrom('session')
    .select('id')
    // One parameter: a statement has room for 65,535.
    .where('id', '=', sql<string>`ANY(${[...sessionIds]}::text[])`)
    .where('createdAt', '>', before(SESSION_LIFETIME_MS))
    .where('lastUsedAt', '>', before(SESSION_IDLE_MS))
    .execute();
  return new Set(rows.map(({ id }) => id));
}
