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
  /** By queue: first attempts up to this `seq` have been read lately. Spares going over what has just ended. */
  readUpTo: ReadonlyMap<string, number>;
  /** Webhooks to look at; all, and what boards that are gone leave behind, when it is absent. */
  only?: readonly string[] | undefined;
  /** Queues that have enough. */
  full: readonly string[];
  perQueue: number;
  most: number;
}

/** The lease under which one dispatcher at a time runs: that of its job. */
export const DISPATCH_LEASE = 'job:dispatch-webhooks';

// Of those that ended, the newest are kept.
const ATTEMPTS_KEPT = 100;

/**
 * Reads what is due, some of each webhook: a webhook with a million of them costs as much as one with a few. First
 * attempts in the order of `seq`, and retries. What the dispatcher has already may be among it. Nothing for whoever
 * does not hold the lease.
 */
export async function readDue(
  database: Kysely<Tables>,
  { token, now, readUpTo, only, full, perQueue, most }: DueRequest,
): Promise<Claimed[]> {
  const columns = sql`delivery.id, delivery.seq, delivery.verb, delivery.body, delivery.step,
    delivery.first_attempt_at, jsonb_array_length(delivery.attempts) AS attempt_count`;
  const known = only ? only.filter((queue) => readUpTo.has(queue)) : [...readUpTo.keys()];
  const { rows } = await sql<Claimed>`
    WITH RECURSIVE queue AS (${only ? sql`SELECT unnest(${only}::text[]) AS webhook_id` : ALL_QUEUES})
    SELECT delivery.*, webhook.id AS queue, webhook.url, webhook.secret, webhook.previous_secret,
      webhook.previous_secret_until
    FROM queue JOIN webhook ON webhook.id = queue.webhook_id AND webhook.enabled
    LEFT JOIN unnest(${known}::text[], ${known.map((queue) => readUpTo.get(queue))}::bigint[]) AS known (webhook_id, seq)
      ON known.webhook_id = queue.webhook_id
    CROSS JOIN LATERAL (
      (SELECT ${columns} FROM webhook_delivery AS delivery
        WHERE delivery.webhook_id = queue.webhook_id AND delivery.status = 'pending' AND delivery.due_at = 'epoch'
          AND delivery.seq > coalesce(known.seq, 0)
        ORDER BY delivery.seq LIMIT ${perQueue})
      UNION ALL
      (SELECT ${columns} FROM webhook_delivery AS delivery
        WHERE delivery.webhook_id = queue.webhook_id AND delivery.status = 'pending' AND delivery.due_at > 'epoch'
          AND delivery.due_at <= ${now}
        ORDER BY delivery.due_at LIMIT ${perQueue})
    ) AS delivery
    WHERE queue.webhook_id NOT IN (SELECT unnest(${full}::text[])) AND ${holdsLease(token)}
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

/** Moves what waits by as much as the clock was set back, so that nothing waits for longer than it was told to. */
export async function followClockBack(database: Kysely<Tables>, byMs: number): Promise<void> {
  await sql`UPDATE webhook_delivery SET due_at = due_at - make_interval(secs => ${byMs / 1000})
    WHERE status = 'pending' AND due_at > 'epoch'`.execute(database);
}
