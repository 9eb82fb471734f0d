// The dispatcher of webhooks: takes what is due from the outbox in batches, has it sent, writes back in batches how
// that went. One at a time runs over a database, under a lease; what one that died had in hand, the next one sends.
import { setTimeout as pause } from 'node:timers/promises';
import { messageOf } from '../../../../platform/errors.ts';
import type { GuardedClient } from '../../../../platform/outbound/guarded-client.ts';
import type { Platform } from '../../../../platform/platform.ts';
import { DELIVERIES_CHANNEL, type DeliveriesNews } from '../announce-deliveries.ts';
import { attempt } from './attempt.ts';
import { createEndpointQueues } from './endpoint-queues.ts';
import { createLookout } from './lookout.ts';
import {
  CLOCK_TOLERANCE_MS,
  type Claimed,
  type Completion,
  complete,
  followClockBack,
  readDue,
} from './outbox.ts';
import { judge } from './schedule.ts';

export interface DispatcherParts {
  platform: Pick<Platform, 'clock' | 'config' | 'database' | 'ephemeral' | 'log' | 'secrets'>;
  client: GuardedClient;
  /** Of the lease. */
  token: string;
  /** From 0 to 1, for the jitter. */
  random?: () => number;
}

export interface DispatchTotals extends Record<string, number> {
  attempts: number;
  delivered: number;
  failed: number;
  dead: number;
}

export interface Dispatcher {
  /** Sends all that is due, then ends; stops earlier when the signal aborts. */
  drain(signal?: AbortSignal): Promise<DispatchTotals>;
  /** Sends whatever becomes due until the signal aborts. */
  run(signal: AbortSignal): Promise<DispatchTotals>;
}

/** What happens while something is being read: what is read may show it as it was. */
interface Reading {
  /** Deliveries that have ended. */
  ended: Set<string>;
  /** Queues of which something was put back, and whether all were. */
  putBack: Set<string>;
  isAllPutBack: boolean;
}

const LIMITS = { perEndpoint: 8, inAll: 4_000, enough: 12, batch: 32, mostWaiting: 20_000 };
const BATCH = 2_000;
// What was read so long ago is read again before it is sent: the webhook, or the lease, may have gone meanwhile.
const STALE_MS = 2_000;
const POLL_MS = 1_000;
const READ_AFRESH_MS = 1_000;
// What ends within so long is written in one statement.
const WRITE_EVERY_MS = 5;
const MOST_UNWRITTEN = 512;
const RETRY_WRITE_MS = 500;
// Endpoints that run low are read for together.
const REFILL_WITHIN_MS = 20;
// At a stop, attempts in flight get so long to end.
const GRACE_MS = 3_000;

/** Makes a dispatcher. */
export function createDispatcher({
  platform,
  client,
  token,
  random = Math.random,
}: DispatcherParts): Dispatcher {
  const { clock, config, database, ephemeral, log } = platform;
  const queues = createEndpointQueues(LIMITS);
  const totals: DispatchTotals = { attempts: 0, delivered: 0, failed: 0, dead: 0 };
  const unwritten: Array<Completion & { queue: string }> = [];
  /** By delivery: when it was read. */
  const inHand = new Map<string, number>();
  const readings = new Set<Reading>();
  const readUpTo = new Map<string, number>();
  let readAfreshAt = performance.now();
  const lookout = createLookout(POLL_MS);
  let writing: Promise<void> | undefined;
  let latest: number | undefined;

  const start = (delivery: Claimed) => {
    attempt(platform, client, delivery).then(({ record, outcome }) => {
      const state = { ...delivery, attemptCount: delivery.attemptCount + 1 };
      const at = new Date(record.at);
      const verdict = judge(
        outcome,
        { ...state, firstAttemptAt: delivery.firstAttemptAt ?? at },
        { scheduleMs: config.webhooks.retryScheduleMs, nowMs: clock.now(), random: random() },
      );
      totals.attempts++;
      if (verdict.status !== 'pending') totals[verdict.status] = (totals[verdict.status] ?? 0) + 1;
      queues.ended(delivery.queue, verdict.status === 'delivered');
      unwritten.push({ ...verdict, id: delivery.id, queue: delivery.queue, attempt: record, at });
      startWaiting();
      write();
      // There is more to do at once; for who failed, when that is written down.
      if (verdict.status === 'delivered') lookAtRoom([delivery.queue]);
    });
  };
  const lookAtRoom = (names: Iterable<string>) => {
    const withRoom = [...names].filter((queue) => queues.room(queue) > 0);
    if (withRoom.length === 0) return;
    const isUrgent = withRoom.some((queue) => !queues.isWaiting(queue));
    lookout.lookAt(withRoom, isUrgent ? 0 : REFILL_WITHIN_MS);
  };
  const startWaiting = () => {
    for (let delivery = queues.next(); delivery; delivery = queues.next()) {
      const readAt = inHand.get(delivery.id) ?? 0;
      if (performance.now() - readAt < STALE_MS) start(delivery);
      else {
        const { id, queue } = delivery;
        inHand.delete(id);
        queues.withdrawn(queue);
        putBack(queue);
        lookout.lookAt([queue]);
      }
    }
  };
  /** Writes what has ended; keeps it, and tries again, while the database is away: what was sent must not be lost. */
  const write = () => {
    writing ??= (async () => {
      while (unwritten.length > 0) {
        if (unwritten.length < MOST_UNWRITTEN) await pause(WRITE_EVERY_MS);
        const batch = unwritten.slice(0, MOST_UNWRITTEN);
        try {
          await complete(database, token, batch);
          unwritten.splice(0, batch.length);
          for (const { id } of batch) {
            inHand.delete(id);
            for (const { ended } of readings) ended.add(id);
          }
          lookAtRoom(new Set(batch.map(({ queue }) => queue)));
        } catch (error) {
          log.warn({ error: messageOf(error) }, 'what became of webhook deliveries could not be written yet');
          await pause(RETRY_WRITE_MS);
        }
      }
    })().finally(() => {
      writing = undefined;
      lookout.wake();
    });
  };
  /** Reads what is due, of some queues or of all, and starts what may start; answers how much there was. */
  const take = async (names?: readonly string[]): Promise<number> => {
    const only = names?.filter((queue) => queues.room(queue) > 0);
    if (only?.length === 0) return 0;
    if (!only) await followClock();
    if (performance.now() - readAfreshAt > READ_AFRESH_MS) {
      // What was re-queued lies before what has been read.
      readUpTo.clear();
      readAfreshAt = performance.now();
    }
    const reading: Reading = { ended: new Set(), putBack: new Set(), isAllPutBack: false };
    const readAt = performance.now();
    const known = (only ?? [...new Set([...queues.names(), ...readUpTo.keys()])]).map((queue) => ({
      queue,
      readUpTo: readUpTo.get(queue) ?? 0,
      room: queues.room(queue),
    }));
    readings.add(reading);
    const due = await readDue(database, {
      token,
      now: new Date(clock.now()),
      only,
      known,
      room: queues.room(),
      most: BATCH,
    }).finally(() => readings.delete(reading));
    const { ended, putBack: late, isAllPutBack } = reading;
    // Others of its queue come first, or it has changed: that is read again.
    const isOutdated = ({ queue }: Claimed) => isAllPutBack || late.has(queue);
    const current = due.filter((delivery) => !isOutdated(delivery));
    for (const { queue, seq, firstAttemptAt } of current) {
      if (firstAttemptAt === null) readUpTo.set(queue, Math.max(seq, readUpTo.get(queue) ?? 0));
    }
    const deliveries = current.filter(({ id }) => !inHand.has(id) && !ended.has(id));
    for (const { id } of deliveries) inHand.set(id, readAt);
    queues.add(deliveries);
    startWaiting();
    // Less than a batch: the rest is not due, or its queues are full.
    if (isAllPutBack || deliveries.length === BATCH) lookout.lookAtAll();
    else if (late.size > 0) lookout.lookAt(late);
    return due.length - current.length + deliveries.length;
  };
  const followClock = async () => {
    const now = clock.now();
    const byMs = latest === undefined ? undefined : latest - now;
    if (byMs === undefined || byMs > CLOCK_TOLERANCE_MS) {
      await followClockBack(database, { now: new Date(now), ...(byMs !== undefined && { byMs }) });
    }
    latest = now;
  };
  const putBack = (queue?: string) => {
    for (const { id } of queues.takeOut(queue)) inHand.delete(id);
    if (queue === undefined) {
      readUpTo.clear();
      for (const reading of readings) reading.isAllPutBack = true;
    } else {
      readUpTo.delete(queue);
      for (const { putBack: late } of readings) late.add(queue);
    }
  };
  const settle = async (withinMs: number) => {
    const deadline = performance.now() + withinMs;
    while ((queues.inFlight > 0 || writing) && performance.now() < deadline) await lookout.wait(100);
  };
  const isIdle = () => queues.waiting === 0 && queues.inFlight === 0 && !writing;
  return {
    drain: async (signal) => {
      while (!signal?.aborted) {
        if ((await take(lookout.take())) > 0) continue;
        if (!isIdle()) await lookout.wait();
        else if ((await take()) === 0 && isIdle()) break;
      }
      putBack();
      await settle(GRACE_MS);
      return totals;
    },
    run: async (signal) => {
      // What is in hand was read before the webhook changed, or its board went.
      const startAfresh = (queue?: string) => {
        putBack(queue);
        lookout.lookAtAll();
      };
      const hear = (message: string) => {
        const { written, changed } = JSON.parse(message) as DeliveriesNews;
        if (written) lookout.lookAt(written);
        else startAfresh(changed);
      };
      const notRead = async (error: unknown) => {
        log.warn({ error: messageOf(error) }, 'webhook deliveries could not be read; trying again');
        await pause(POLL_MS, undefined, { signal }).catch(() => undefined);
        lookout.lookAtAll();
      };
      let everything: Promise<void> | undefined;
      const lookAtEverything = async () => {
        try {
          await take();
        } catch (error) {
          await notRead(error);
        } finally {
          everything = undefined;
        }
      };
      let unsubscribe: (() => Promise<void>) | undefined;
      const stopResuming = ephemeral.onResumed(() => startAfresh());
      signal.addEventListener('abort', lookout.wake, { once: true });
      while (!signal.aborted) {
        // Without Redis nothing is heard, and all is found.
        unsubscribe ??= await ephemeral.subscribe(DELIVERIES_CHANNEL, hear).catch(() => undefined);
        try {
          const names = lookout.take();
          // A look at all of them takes its time; who is named does not wait for it.
          if (names) await take(names);
          else everything ??= lookAtEverything();
          await lookout.wait();
        } catch (error) {
          await notRead(error);
        }
      }
      await everything;
      stopResuming();
      await unsubscribe?.().catch(() => undefined);
      putBack();
      await settle(GRACE_MS);
      return totals;
    },
  };
}
