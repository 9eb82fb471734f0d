// Takes clicks from redirects without making them wait, and gets them written down: through the journal in Redis
// when there is one, so that a process that dies takes next to nothing with it, else straight to the database.
import { Batcher } from '../../../platform/batcher.ts';
import type { Database } from '../../../platform/database/connect.ts';
import type { Journal } from '../../../platform/ephemeral/store.ts';
import { within } from '../../../platform/ephemeral/within.ts';
import { messageOf } from '../../../platform/errors.ts';
import type { Platform } from '../../../platform/platform.ts';
import type { Click } from './click.ts';
import { batchClicks, encodeClicks } from './click-batch.ts';
import { CLICK_JOURNAL } from './drain-journal.ts';
import { startJournalDrainer } from './journal-drainer.ts';
import { lockLedger, recordClicks } from './record-clicks.ts';

// A process killed between two writes loses what came since the last one (contract: 50 ms with Redis, 200 without).
const JOURNAL_EVERY_MS = 10;
const DATABASE_EVERY_MS = 100;
const RETRY_AFTER_MS = 500;
const CLICKS_AN_ENTRY = 400;
const CLICKS_A_TRANSACTION = 5_000;
const MOST_WAITING = 100_000;
const CATCH_UP_WITHIN_MS = 2_000;

export interface ClickRecorder {
  /** Takes a click. Never waits, never throws. */
  add(click: Click): void;
  /** Writes a click down; durable when it resolves. Answers false when its link is gone. */
  record(click: Click): Promise<boolean>;
  /**
   * Resolves once the clicks that this process took, and those in the journal, are in the tables.
   *
   * @throws when they could not be written
   */
  settle(): Promise<void>;
  /** Settles as far as that is possible soon: who reads counts would rather have older ones than none. */
  catchUp(): Promise<void>;
  close(): Promise<void>;
}

/** Makes the recorder of a process. */
export function createClickRecorder(platform: Platform): ClickRecorder {
  const { database, ephemeral, log, metrics } = platform;
  const journal = ephemeral.journal(CLICK_JOURNAL);
  const drainer = journal && startJournalDrainer(platform);
  const writeEveryMs = journal ? JOURNAL_EVERY_MS : DATABASE_EVERY_MS;
  let waiting: Click[] = [];
  let writing: Promise<void> | undefined;
  let writeTimer: NodeJS.Timeout | undefined;
  let closed = false;
  let inTrouble = false;

  const recording = new Batcher<Click, boolean>({
    concurrency: 1,
    maxBatch: 500,
    run: async (clicks) => {
      const live = await writeToDatabase(database, clicks);
      metrics.linkClicks.inc(live.clicks);
      return clicks.map(({ linkKey }) => live.linkKeys.has(linkKey));
    },
  });

  function add(click: Click): void {
    if (waiting.length >= MOST_WAITING) {
      metrics.linkClicksDropped.inc();
      return;
    }
    waiting.push(click);
    if (writeTimer === undefined && writing === undefined) schedule(writeEveryMs);
  }

  function schedule(delayMs: number): void {
    if (closed) return;
    writeTimer = setTimeout(() => {
      writeTimer = undefined;
      writeWaiting().catch(() => undefined);
    }, delayMs);
  }

  /** Writes what waits now; rejects when it could not, and tries again later by itself. */
  function writeWaiting(): Promise<void> {
    writing ??= writeAll().finally(() => {
      writing = undefined;
      if (waiting.length > 0 && writeTimer === undefined) schedule(inTrouble ? RETRY_AFTER_MS : writeEveryMs);
    });
    return writing;
  }

  async function writeAll(): Promise<void> {
    const clicks = waiting;
    waiting = [];
    let done = 0;
    try {
      while (done < clicks.length) done += await writeSome(clicks, done);
      noteTrouble(false);
    } catch (error) {
      noteTrouble(true, error);
      waiting = [...clicks.slice(done), ...waiting];
      const excess = waiting.length - MOST_WAITING;
      if (excess > 0) {
        waiting.length = MOST_WAITING;
        metrics.linkClicksDropped.inc(excess);
      }
      throw error;
    }
  }

  /** @returns how many of the clicks from `start` on were written */
  async function writeSome(clicks: readonly Click[], start: number): Promise<number> {
    const entry = clicks.slice(start, start + CLICKS_AN_ENTRY);
    // While Redis says nothing each attempt would take a second, and might be carried out after all when it is back.
    if (journal && ephemeral.delivering && (await appended(journal, entry))) return entry.length;
    const batch = clicks.slice(start, start + CLICKS_A_TRANSACTION);
    metrics.linkClicks.inc((await writeToDatabase(database, batch)).clicks);
    return batch.length;
  }

  /** False when Redis is away or full of clicks that nobody has written down: then the database gets them itself. */
  async function appended(to: Journal, clicks: readonly Click[]): Promise<boolean> {
    return to.append(encodeClicks(clicks)).catch((error: unknown) => {
      log.debug({ error: messageOf(error) }, 'the journal of clicks cannot be written');
      return false;
    });
  }

  function noteTrouble(now: boolean, error?: unknown): void {
    if (now === inTrouble) return;
    inTrouble = now;
    if (now) {
      const bound = `up to ${MOST_WAITING} wait in memory`;
      log.warn({ error: messageOf(error) }, `clicks cannot be written down at present; ${bound}`);
    } else log.info('clicks are written down again');
  }

  async function settle(): Promise<void> {
    // What is being written may not hold the clicks that came since.
    await writing?.catch(() => undefined);
    if (waiting.length > 0) await writeWaiting();
    if (ephemeral.delivering) await drainer?.settle();
  }

  async function catchUp(): Promise<void> {
    await within(CATCH_UP_WITHIN_MS, settle()).catch((error: unknown) =>
      log.debug({ error: messageOf(error) }, 'counts are read without the latest clicks'),
    );
  }

  async function close(): Promise<void> {
    closed = true;
    clearTimeout(writeTimer);
    await recording.drain();
    await settle().catch((error: unknown) => {
      metrics.linkClicksDropped.inc(waiting.length);
      log.error({ error: messageOf(error), clicks: waiting.length }, 'clicks were lost at the stop');
    });
    await drainer?.close();
  }

  return { add, record: (click) => recording.add(click), settle, catchUp, close };
}

function writeToDatabase(
  database: Database,
  clicks: readonly Click[],
): Promise<{ clicks: number; linkKeys: ReadonlySet<number> }> {
  return database.transaction().execute(async (transaction) => {
    await lockLedger(transaction);
    return recordClicks(transaction, [batchClicks(clicks)]);
  });
}
