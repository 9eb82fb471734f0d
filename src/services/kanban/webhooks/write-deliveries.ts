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

const FAREWELLS_AT_ONCE = 1_000;

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
  const deliveries = activity.flatMap(({ verb, seq }) =>
    endpoints
      .filter(({ verbs }) => verbs.length === 0 || verbs.includes(verb))
      .map(({ id: webhookId }) => ({ id: ulid(now.getTime()), webhookId, seq })),
  );
  if (deliveries.length === 0) return [];
  // Automations of a large board can make thousands, more than a statement has parameters for.
  await sql`
    INSERT INTO webhook_delivery (id, webhook_id, board_id, seq, verb, body, status, due_at, created_at)
    SELECT delivery.id, webhook_id, board_id, seq, verb, body, 'pending', ${AT_ONCE}, ${now}
    FROM unnest(
      ${deliveries.map(({ id }) => id)}::text[], ${deliveries.map(({ webhookId }) => webhookId)}::text[],
      ${deliveries.map(({ seq }) => seq)}::bigint[]
    ) AS delivery (id, webhook_id, seq)
    JOIN unnest(
      ${activity.map(({ boardId }) => boardId)}::text[], ${activity.map(({ seq }) => seq)}::bigint[],
      ${activity.map(({ verb }) => verb)}::text[], ${activity.map(deliveryBody)}::text[]
    ) AS entry (board_id, seq, verb, body) USING (seq)`.execute(transaction);
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
  const farewells = webhooks.map(({ lastSeq, ...target }) => ({
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
  }));
  // A statement has 65,535 parameters at most.
  for (let start = 0; start < farewells.length; start += FAREWELLS_AT_ONCE) {
    const some = farewells.slice(start, start + FAREWELLS_AT_ONCE);
    await transaction.insertInto('webhookDelivery').values(some).execute();
  }
  return true;
}
