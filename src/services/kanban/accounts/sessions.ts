// Sessions: 30 days idle, 90 days at most (contract, section 5). The bearer has the token, the database its SHA-256.
import { sql } from 'kysely';
import { createId } from '../../../platform/ids.ts';
import { createToken, hashToken } from '../../../platform/tokens.ts';
import { notFound } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { cursorKey, type Page, type PageRequest, pageOf } from '../pages.ts';
import type { KnownSession, Principal } from './session-cache.ts';

export interface Session {
  id: string;
  userAgent: string | null;
  createdAt: Date;
  lastUsedAt: Date;
  /** Whether it is the one that asks. */
  current: boolean;
}

const DAY_MS = 86_400_000;
export const SESSION_LIFETIME_MS = 90 * DAY_MS;
export const SESSION_IDLE_MS = 30 * DAY_MS;
// A write a request would make every read a write.
const TOUCH_AFTER_MS = 3_600_000;
const USER_AGENT_LENGTH = 256;

/**
 * Starts a session of an account that still has the credentials which were checked: a recovery or a deletion may have
 * come between.
 *
 * @returns the token for its bearer; undefined when the credentials were replaced
 */
export async function startSession(
  { platform }: KanbanService,
  { accountId, authHash, userAgent }: { accountId: string; authHash: string; userAgent: string | undefined },
): Promise<string | undefined> {
  const token = createToken('ks_');
  const now = new Date(platform.clock.now());
  const shownAgent = userAgent?.slice(0, USER_AGENT_LENGTH).replaceAll('\0', '') ?? null;
  const { numInsertedOrUpdatedRows } = await platform.database
    .insertInto('session')
    .columns(['id', 'accountId', 'tokenHash', 'userAgent', 'createdAt', 'lastUsedAt'])
    .expression((select) =>
      select
        .selectFrom('account')
        .select(({ val }) => [
          val(createId(now.getTime())).as('id'),
          'account.id as accountId',
          sql<Buffer>`${hashToken(token)}::bytea`.as('tokenHash'),
          sql<string | null>`${shownAgent}::text`.as('userAgent'),
          sql<Date>`${now}::timestamptz`.as('createdAt'),
          sql<Date>`${now}::timestamptz`.as('lastUsedAt'),
        ])
        .where('account.id', '=', accountId)
        .where('authHash', '=', authHash)
        // Waits for a recovery that is under way.
        .forShare(),
    )
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 0n ? undefined : token;
}

/** Who a session token belongs to; undefined for one that is unknown or over. */
export async function findPrincipal(service: KanbanService, token: string): Promise<Principal | undefined> {
  const { platform, sessions } = service;
  const tokenHash = hashToken(token);
  const key = tokenHash.toString('base64');
  const known = sessions.get(key);
  const generation = sessions.generation;
  const session = known ?? (await readSession(service, tokenHash));
  const now = platform.clock.now();
  if (
    !session ||
    now - session.createdAt >= SESSION_LIFETIME_MS ||
    now - session.lastUsedAt >= SESSION_IDLE_MS
  ) {
    return undefined;
  }
  if (now - session.lastUsedAt >= TOUCH_AFTER_MS) {
    session.lastUsedAt = now;
    await platform.database
      .updateTable('session')
      .set({ lastUsedAt: new Date(now) })
      .where('id', '=', session.sessionId)
      .execute();
  }
  if (!known) sessions.set(key, session, generation);
  return { accountId: session.accountId, sessionId: session.sessionId };
}

async function readSession(
  { platform }: KanbanService,
  tokenHash: Buffer,
): Promise<KnownSession | undefined> {
  const row = await platform.database
    .selectFrom('session')
    .innerJoin('account', 'account.id', 'session.accountId')
    .select(['session.id', 'session.accountId', 'session.createdAt', 'session.lastUsedAt'])
    .where('session.tokenHash', '=', tokenHash)
    .where('account.deletedAt', 'is', null)
    .executeTakeFirst();
  if (!row) return undefined;
  return {
    sessionId: row.id,
    accountId: row.accountId,
    createdAt: row.createdAt.getTime(),
    lastUsedAt: row.lastUsedAt.getTime(),
  };
}

/**
 * The sessions of an account that are not over, newest first.
 *
 * @throws {KanbanError} BAD_REQUEST for a cursor that is none
 */
export async function listSessions(
  { platform }: KanbanService,
  principal: Principal,
  request: PageRequest,
): Promise<Page<Session>> {
  const now = platform.clock.now();
  const before = cursorKey(request, 1);
  let query = platform.database
    .selectFrom('session')
    .select(['id', 'userAgent', 'createdAt', 'lastUsedAt'])
    .where('accountId', '=', principal.accountId)
    .where('createdAt', '>', new Date(now - SESSION_LIFETIME_MS))
    .where('lastUsedAt', '>', new Date(now - SESSION_IDLE_MS))
    .orderBy('id', 'desc')
    .limit(request.limit + 1);
  if (before) query = query.where('id', '<', before[0] ?? '');
  const rows = await query.execute();
  const sessions = rows.map((row) => ({ ...row, current: row.id === principal.sessionId }));
  return pageOf(sessions, request, ({ id }) => [id]);
}

/**
 * Ends one session of an account.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export async function endSession(
  { platform, sessions }: KanbanService,
  accountId: string,
  sessionId: string,
): Promise<void> {
  const { numDeletedRows } = await platform.database
    .deleteFrom('session')
    .where('id', '=', sessionId)
    .where('accountId', '=', accountId)
    .executeTakeFirst();
  if (numDeletedRows === 0n) throw notFound();
  await sessions.forget({ accountId, sessionId });
}
