// The outbox: what webhooks are to be told is written in the transaction of the change.
import { type Kysely, sql } from 'kysely';
import { monotonicFactory } from 'ulid';
import type { Tables } from '../../../platform/database/tables.ts';
import type { Activity } from '../boards/activity.ts';
import type { BoardChange } from '../boards/change.ts';

/** A webhook, as far as it decides what it is told. */
export interface Endpoint {
  id: string;
  /** Empty for all. */
  verbs: string[];
}

// Those of a process are in the order in which it made them, within a millisecond too.
const ulid = monotonicFactory();

/** When what was never attempted is due: before every retry, in the order of `seq`. */
export const AT_ONCE = new Date(0);

/** The body of a delivery: exactly the six fields of the specification (Outbound webhooks). */
export function deliveryBody({
  verb,
  boardId,
  cardId,
  actorId,
  timestamp,
  metadata,
}: Pick<Activity, 'verb' | 'boardId' | 'cardId' | 'actorId' | 'timestamp' | 'metadata'>): string {
  return JSON.stringify({ verb, boardId, cardId, actorId, timestamp: timestamp.toISOString(), metadata });
}

/** Writes a delivery for each entry and each webhook that wants to hear of it. Returns the ids of those webhooks. */
export async function writeDeliveries(
  { transaction, now }: Pick<BoardChange, 'transaction' | 'now'>,
  activity: readonly Activity[],
  endpoints: readonly Endpoint[],
): Promise<string[]> {
  const deliveries = activity.flatMap((entry) =>
    endpoints
      .filter(({ verbs }) => verbs.length === 0 || verbs.includes(entry.verb))
      .map(({ id: webhookId }) => ({
        id: ulid(now.getTime()),
        webhookId,
        boardId: entry.boardId,
        seq: entry.seq,
        verb: entry.verb,
        body: deliveryBody(entry),
        status: 'pending' as const,
        dueAt: AT_ONCE,
        createdAt: now,
      })),
  );
  if (deliveries.length === 0) return [];
  await transaction.insertInto('webhookDelivery').values(deliveries).execute();
  return [...new Set(deliveries.map(({ webhookId }) => webhookId))];
}

/**
 * Writes what is told of boards that are about to go. Nothing of theirs stays, so these deliveries carry where they go
 * and what signs them.
 *
 * @param boards - condition on the table `board`
 * @returns whether there are any
 */
export async function writeFarewells(
  transaction: Kysely<Tables>,
  { boardIds, actorId, now }: { boardIds: readonly string[]; actorId: string; now: Date },
): Promise<boolean> {
  if (boardIds.length === 0) return false;
  const webhooks = await transaction
    .selectFrom('webhook')
    .innerJoin('board', 'board.id', 'webhook.boardId')
    .select(['boardId', 'url', 'secret', 'previousSecret', 'previousSecretUntil', 'lastSeq'])
    .where('boardId', 'in', boardIds)
    .where('enabled', '=', true)
    .where(sql<boolean>`(verbs = '{}' OR 'BOARD_DELETED' = ANY(verbs))`)
    .orderBy('webhook.id')
    .execute();
  if (webhooks.length === 0) return false;
  await transaction
    .insertInto('webhookDelivery')
    .values(
      webhooks.map(({ lastSeq, ...target }) => ({
        ...target,
        id: ulid(now.getTime()),
        webhookId: null,
        seq: lastSeq + 1,
        verb: 'BOARD_DELETED',
        body: deliveryBody({
          verb: 'BOARD_DELETED',
          boardId: target.boardId,
          cardId: null,
          actorId,
          timestamp: now,
          metadata: { boardId: target.boardId },
        }),
        status: 'pending' as const,
        dueAt: AT_ONCE,
        createdAt: now,
      })),
    )
    .execute();
  return true;
}
