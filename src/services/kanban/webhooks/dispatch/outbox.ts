// What a dispatcher takes from the outbox and what it writes back. The lease is the claim: only who holds it gets
// anything to send, and what anybody else writes back counts for nothing. So the next holder simply sends what the one
// before had in hand, and a delivery is written once, when it has ended.
import { type Kysely, sql } from 'kysely';
import type { DeliveryAttempt } from '../../../../platform/database/kanban-tables.ts';
import type { Tables } from '../../../../platform/database/tables.ts';
import type { Message } from './attempt.ts';
import type { ScheduleState, Verdict } from './schedule.ts';

export interface Claimed extends Message, ScheduleState {
  /** What bounds and orders attempts: the webhook, or the delivery itself when that is gone. */
  queue: string;
  seq: number;
}

export interface Completion extends Verdict {
  id: string;
  attempt: DeliveryAttempt;
  at: Date;
}

export interface DueRequest {
  /** Of the lease. */
  token: string;
  now: Date;
  /** Webhooks to look at; all, and what boards that are gone leave behind, when it is absent. */
  only?: readonly string[] | undefined;
  known: readonly KnownQueue[];
  /** How many of a queue that is not known. */
  room: number;
  most: number;
}

export interface KnownQueue {
  queue: string;
  /** First attempts up to this `seq` have been read lately. Spares going over what has just ended. */
  readUpTo: number;
  /** How many it has room for. */
  room: number;
}

/** The lease under which one dispatcher at a time runs: that of its job. */
export const DISPATCH_LEASE = 'job:dispatch-webhooks';

// Attempts that a delivery keeps: the newest.
const ATTEMPTS_KEPT = 100;
/** Clocks of two machines, and one that is kept right in small steps, differ by less. */
export const CLOCK_TOLERANCE_MS = 2_000;

/**
 * Reads what is due, some of each webhook: a webhook with a million of them costs as much as one with a few. First
 * attempts in the order of `seq`, and retries. What the dispatcher has already may be among it. Nothing for whoever
 * does not hold the lease.
 */
export async function readDue(
  database: Kysely<Tables>,
  { token, now, only, known, room, most }: DueRequest,
): Promise<Claimed[]> {
  const columns = sql`delivery.id, delivery.seq, delivery.verb, delivery.body, delivery.step,
    delivery.first_attempt_at, jsonb_array_length(delivery.attempts) AS attempt_count`;
  const { rows } = await sql<Claimed>`
    WITH RECURSIVE queue AS (${only ? sql`SELECT unnest(${only}::text[]) AS webhook_id` : ALL_QUEUES})
    SELECT delivery.*, webhook.id AS queue, webhook.url, webhook.secret, webhook.previous_secret,
      webhook.previous_secret_until
    FROM queue JOIN webhook ON webhook.id = queue.webhook_id AND webhook.enabled
    LEFT JOIN unnest(
      ${known.map(({ queue }) => queue)}::text[], ${known.map(({ readUpTo }) => readUpTo)}::bigint[],
      ${known.map((queue) => queue.room)}::integer[]
    ) AS known (webhook_id, seq, room) ON known.webhook_id = queue.webhook_id
    CROSS JOIN LATERAL (SELECT coalesce(known.seq, 0) AS seq, coalesce(known.room, ${room}) AS room) AS had
    CROSS JOIN LATERAL (
      (SELECT ${columns} FROM webhook_delivery AS delivery
        WHERE delivery.webhook_id = queue.webhook_id AND delivery.status = 'pending' AND delivery.due_at = 'epoch'
          AND delivery.seq > had.seq
        ORDER BY delivery.seq LIMIT had.room)
      UNION ALL
      (SELECT ${columns} FROM webhook_delivery AS delivery
        WHERE delivery.webhook_id = queue.webhook_id AND delivery.status = 'pending' AND delivery.due_at > 'epoch'
          AND delivery.due_at <= ${now}
        ORDER BY delivery.due_at LIMIT had.room)
    ) AS delivery
    WHERE had.room > 0 AND ${holdsLease(token)}
    LIMIT ${most}`.execute(database);
  if (only) return rows.sort(inOrder);
  const { rows: farewells } = await sql<Claimed>`
    SELECT ${columns}, delivery.id AS queue, url, secret, previous_secret, previous_secret_until
    FROM webhook_delivery AS delivery
    WHERE webhook_id IS NULL AND status = 'pending' AND due_at <= ${now} AND ${holdsLease(token)}
    ORDER BY due_at LIMIT ${most}`.execute(database);
  return [...rows, ...farewells].sort(inOrder);
}

const ALL_QUEUES = sql`
  (SELECT webhook_id FROM webhook_delivery WHERE status = 'pending' AND webhook_id > '' ORDER BY webhook_id LIMIT 1)
  UNION ALL
  SELECT (SELECT webhook_id FROM webhook_delivery
    WHERE status = 'pending' AND webhook_id > queue.webhook_id ORDER BY webhook_id LIMIT 1)
  FROM queue WHERE queue.webhook_id IS NOT NULL`;

function inOrder(a: Claimed, b: Claimed): number {
  return a.seq - b.seq || (a.id < b.id ? -1 : 1);
}

function holdsLease(token: string) {
  return sql`EXISTS (SELECT FROM lease WHERE lease.name = ${DISPATCH_LEASE} AND lease.token = ${token})`;
}

/** Writes down how attempts ended; nothing for whoever has lost the lease, nor for what is gone. */
export async function complete(
  database: Kysely<Tables>,
  token: string,
  completions: readonly Completion[],
): Promise<void> {
  if (completions.length === 0) return;
  const column = <T>(of: (completion: Completion) => T) => completions.map(of);
  await sql`
    UPDATE webhook_delivery AS delivery SET
      status = ended.status,
      step = ended.step,
      due_at = coalesce(ended.due_at, delivery.due_at),
      first_attempt_at = coalesce(delivery.first_attempt_at, ended.at),
      finished_at = CASE ended.status WHEN 'pending' THEN NULL ELSE ended.at END,
      attempts = CASE WHEN jsonb_array_length(delivery.attempts) < ${ATTEMPTS_KEPT}
        THEN delivery.attempts ELSE delivery.attempts - 0 END || ended.attempt::jsonb
    FROM unnest(
      ${column(({ id }) => id)}::text[], ${column(({ status }) => status)}::text[],
      ${column(({ step }) => step)}::integer[], ${column(({ dueAt }) => dueAt)}::timestamptz[],
      ${column(({ at }) => at)}::timestamptz[], ${column(({ attempt }) => JSON.stringify(attempt))}::text[]
    ) AS ended (id, status, step, due_at, at, attempt)
    WHERE delivery.id = ended.id AND delivery.status = 'pending' AND ${holdsLease(token)}`.execute(database);
}

/**
 * Follows a clock that was set back: what was scheduled by the time that is no longer so would wait for longer than it was
 * told to. Known by its last attempt, which lies in the future; what was scheduled before the clock went wrong stays.
 *
 * @param byMs - how far back; unknown to a dispatcher that has just begun, for which the last attempt is now
 */
export async function followClockBack(
  database: Kysely<Tables>,
  { now, byMs }: { now: Date; byMs?: number },
): Promise<void> {
  await sql`
    UPDATE webhook_delivery AS delivery SET
      due_at = due_at - ahead.by,
      first_attempt_at = CASE WHEN first_attempt_at > ${now} THEN first_attempt_at - ahead.by ELSE first_attempt_at END,
      attempts = jsonb_set(attempts, '{-1,at}', to_jsonb(${now.toISOString()}::text))
    FROM (
      SELECT id, coalesce(${byMs ?? null}::float8 * interval '1 millisecond', last_at - ${now}) AS by
      FROM (
        SELECT id, (attempts -> -1 ->> 'at')::timestamptz AS last_at FROM webhook_delivery
        WHERE status = 'pending' AND due_at > 'epoch'
      ) AS waiting
      WHERE last_at > ${now}::timestamptz + ${CLOCK_TOLERANCE_MS} * interval '1 millisecond'
    ) AS ahead
    WHERE delivery.id = ahead.id`.execute(database);
}
