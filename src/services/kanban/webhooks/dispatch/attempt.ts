// One attempt of one delivery: signed with the time of the attempt (kanban-api.md, Outbound webhooks), sent, judged.
import { createHmac } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { DeliveryAttempt } from '../../../../platform/database/kanban-tables.ts';
import { messageOf } from '../../../../platform/errors.ts';
import type { GuardedClient, OutboundAnswer } from '../../../../platform/outbound/guarded-client.ts';
import type { Platform } from '../../../../platform/platform.ts';
import { openSecret } from '../../accounts/sealed-secret.ts';
import { type AttemptOutcome, retryAfterMs } from './schedule.ts';

export interface Target {
  url: string;
  secret: Buffer;
  previousSecret: Buffer | null;
  previousSecretUntil: Date | null;
}

export interface Message extends Target {
  id: string;
  verb: string;
  body: string;
}

export interface Attempt {
  record: DeliveryAttempt;
  outcome: AttemptOutcome;
}

const LONGEST_ERROR = 300;

/** Sends a delivery once. Does not throw: what went wrong is part of the record. */
export async function attempt(
  { clock, config, secrets }: Pick<Platform, 'clock' | 'config' | 'secrets'>,
  client: GuardedClient,
  message: Message,
): Promise<Attempt> {
  const startedAt = clock.now();
  const began = performance.now();
  const ended = (outcome: AttemptOutcome): Attempt => {
    const { status, error } = outcome;
    const record = {
      at: new Date(startedAt).toISOString(),
      ...(status !== undefined && { status }),
      ...(error !== undefined && { error }),
      durationMs: Math.round(performance.now() - began),
    };
    return { record, outcome };
  };
  try {
    const answer = await client.request({
      url: message.url,
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'user-agent': 'svc-webhooks',
        'x-app-event': message.verb,
        'x-app-delivery-id': message.id,
        'x-app-signature': sign(message, keysOf(message, secrets, startedAt), startedAt),
      },
      body: message.body,
      timeoutMs: config.webhooks.timeoutMs,
    });
    return ended(outcomeOf(answer, clock.now()));
  } catch (error) {
    return ended({ error: messageOf(error).slice(0, LONGEST_ERROR) });
  }
}

function outcomeOf({ status, headers }: OutboundAnswer, nowMs: number): AttemptOutcome {
  if (status >= 200 && status < 300) return { status };
  return { status, retryAfterMs: retryAfterMs(headers['retry-after'], nowMs) };
}

/** The header `X-App-Signature`: over `<t>.<body>`, once for each key. */
export function sign({ body }: { body: string }, keys: readonly string[], nowMs: number): string {
  const time = Math.floor(nowMs / 1000);
  const signatures = keys.map((key) => createHmac('sha256', key).update(`${time}.${body}`).digest('hex'));
  return [`t=${time}`, ...signatures.map((signature) => `v1=${signature}`)].join(',');
}

// Opening one costs as much as signing with it.
const opened = new LRUCache<string, string>({ max: 10_000 });

function keysOf(
  { secret, previousSecret, previousSecretUntil }: Target,
  secrets: Platform['secrets'],
  nowMs: number,
): string[] {
  const isRotating = previousSecret && previousSecretUntil && previousSecretUntil.getTime() > nowMs;
  return [secret, ...(isRotating ? [previousSecret] : [])].map((sealed) => {
    const name = sealed.toString('latin1');
    const key = opened.get(name) ?? openSecret(secrets, sealed);
    opened.set(name, key);
    return key;
  });
}
