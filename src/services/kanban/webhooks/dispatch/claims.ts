// What a dispatcher takes from the outbox and what it writes back. Only who holds the lease takes anything, and a claim
// carries the token of the lease: so the next holder takes what the one before had in hand, and what that one still
// writes finds no claim of its own.
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

export interface ClaimRequest {
  token: string;
  now: Date;
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
 * Claims what is due, some of each webhook: a webhook with a million of them costs as much as one with a few. First
 * attempts come before retries, in the order of `seq`; of retries a few go along in any case.
 */
export async function claimDue(
  database: Kysely<Tables>,
  { token, now, full, perQueue, most }: ClaimRequest,
): Promise<Claimed[]> {
  const state = sql`delivery.step, delivery.first_attempt_at, jsonb_array_length(delivery.attempts) AS attempt_count`;
  const mine = sql`delivery.status = 'pending' AND delivery.claim IS DISTINCT FROM ${token} AND delivery.due_at <= ${now}
    AND EXISTS (SELECT FROM lease WHERE lease.name = ${DISPATCH_LEASE} AND lease.token = ${token})`;
  const { rows } = await sql<Claimed>`
    WITH RECURSIVE queue AS (
      (SELECT webhook_id FROM webhook_delivery WHERE status = 'pending' AND webhook_id > '' ORDER BY webhook_id LIMIT 1)
      UNION ALL
      SELECT (SELECT webhook_id FROM webhook_delivery
        WHERE status = 'pending' AND webhook_id > queue.webhook_id ORDER BY webhook_id LIMIT 1)
      FROM queue WHERE queue.webhook_id IS NOT NULL
    ), due AS MATERIALIZED (
      SELECT chosen.id, webhook.url, webhook.secret, webhook.previous_secret, webhook.previous_secret_until
      FROM queue JOIN webhook ON webhook.id = queue.webhook_id AND webhook.enabled
      CROSS JOIN LATERAL (
        (SELECT id FROM webhook_delivery AS delivery WHERE delivery.webhook_id = queue.webhook_id AND ${mine}
          ORDER BY delivery.due_at, delivery.seq LIMIT ${perQueue})
        UNION
        (SELECT id FROM webhook_delivery AS delivery WHERE delivery.webhook_id = queue.webhook_id AND ${mine}
          AND delivery.due_at > 'epoch' ORDER BY delivery.due_at LIMIT 2)
      ) AS chosen
      WHERE queue.webhook_id <> ALL(${full}::text[])
      LIMIT ${most}
    )
    UPDATE webhook_delivery AS delivery SET claim = ${token} FROM due WHERE delivery.id = due.id
    RETURNING delivery.id, delivery.webhook_id AS queue, delivery.seq, delivery.verb, delivery.body,
      due.url, due.secret, due.previous_secret, due.previous_secret_until, ${state}`.execute(database);
  const { rows: farewells } = await sql<Claimed>`
    UPDATE webhook_delivery AS delivery SET claim = ${token}
    WHERE id IN (SELECT id FROM webhook_delivery AS delivery WHERE webhook_id IS NULL AND ${mine}
      ORDER BY due_at LIMIT ${perQueue})
    RETURNING id, id AS queue, seq, verb, body, url, secret, previous_secret, previous_secret_until, ${state}`.execute(
    database,
  );
  return [...rows, ...farewells].sort((a, b) => a.seq - b.seq || (a.id < b.id ? -1 : 1));
}

/** Writes down how attempts ended. Rows that somebody else has claimed meanwhile, or that are gone, stay as they are. */
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
        THEN delivery.attempts ELSE delivery.attempts - 0 END || ended.attempt::jsonb,
      claim = NULL
    FROM unnest(
      ${column(({ id }) => id)}::text[], ${column(({ status }) => status)}::text[],
      ${column(({ step }) => step)}::integer[], ${column(({ dueAt }) => dueAt)}::timestamptz[],
      ${column(({ at }) => at)}::timestamptz[], ${column(({ attempt }) => JSON.stringify(attempt))}::text[]
    ) AS ended (id, status, step, due_at, at, attempt)
    WHERE delivery.id = ended.id AND delivery.claim = ${token}`.execute(database);
}

/** Gives back what was claimed and not attempted. */
export async function release(
  database: Kysely<Tables>,
  token: string,
  ids: readonly string[],
): Promise<void> {
  if (ids.length === 0) return;
  await sql`UPDATE webhook_delivery SET claim = NULL WHERE id = ANY(${ids}) AND claim = ${token}`.execute(
    database,
  );
}

/** Moves what waits by as much as the clock was set back, so that nothing waits for longer than it was told to. */
export async function followClockBack(database: Kysely<Tables>, byMs: number): Promise<void> {
  await sql`UPDATE webhook_delivery SET due_at = due_at - make_interval(secs => ${byMs / 1000})
    WHERE status = 'pending' AND due_at > 'epoch'`.execute(database);
}
