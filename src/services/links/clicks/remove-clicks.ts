// Links go at once, with their counts; their raw clicks follow in batches small enough that nobody waits for them.
import { setTimeout as pause } from 'node:timers/promises';
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../../platform/database/tables.ts';
import { messageOf } from '../../../platform/errors.ts';
import type { Platform } from '../../../platform/platform.ts';
import { clickTables } from './click-months.ts';
import { lockLedger } from './record-clicks.ts';

const ROWS_A_BATCH = 10_000;
const SHORTEST_PAUSE_MS = 10;
const RETRY_AFTER_MS = 5_000;

/**
 * Removes links and their counts inside a transaction, and notes that their raw clicks are to follow.
 *
 * @returns the codes of those that were there
 */
export async function removeLinks(
  transaction: Kysely<Tables>,
  linkKeys: readonly number[],
  removedAt: Date,
): Promise<string[]> {
  // No batch of clicks is being written meanwhile, and the next one finds these links gone.
  await lockLedger(transaction);
  const { rows } = await sql<{ shortCode: string }>`
    WITH gone AS (
      DELETE FROM link WHERE link_key = ANY(${linkKeys}::bigint[]) RETURNING link_key, short_code
    ), clicked AS (
      DELETE FROM click_summary USING gone WHERE click_summary.link_key = gone.link_key RETURNING gone.link_key
    ), days AS (
      DELETE FROM click_day USING gone WHERE click_day.link_key = gone.link_key
    ), noted AS (
      INSERT INTO link_removal (link_key, removed_at) SELECT link_key, ${removedAt}::timestamptz FROM clicked
    )
    SELECT short_code FROM gone`.execute(transaction);
  return rows.map(({ shortCode }) => shortCode);
}

/**
 * Removes a batch of raw clicks of links that are gone.
 *
 * @returns the rows removed, and whether none are left; what another process is removing is left
 */
export async function removeClickBatch({
  database,
}: Pick<Platform, 'database'>): Promise<{ rows: number; done: boolean }> {
  return database.transaction().execute(async (transaction) => {
    const removal = await transaction
      .selectFrom('linkRemoval')
      .select('linkKey')
      .orderBy('removedAt')
      .orderBy('linkKey')
      .limit(1)
      .forUpdate()
      .skipLocked()
      .executeTakeFirst();
    if (!removal) return { rows: 0, done: !(await isAnyLeft(transaction)) };
    let rows = 0;
    for (const table of await clickTables(transaction)) {
      rows += await removeFrom(transaction, table, removal.linkKey, ROWS_A_BATCH - rows);
      if (rows === ROWS_A_BATCH) return { rows, done: false };
    }
    await transaction.deleteFrom('linkRemoval').where('linkKey', '=', removal.linkKey).execute();
    return { rows, done: false };
  });
}

async function isAnyLeft(transaction: Kysely<Tables>): Promise<boolean> {
  const row = await transaction.selectFrom('linkRemoval').select('linkKey').limit(1).executeTakeFirst();
  return row !== undefined;
}

async function removeFrom(
  transaction: Kysely<Tables>,
  table: string,
  linkKey: number,
  most: number,
): Promise<number> {
  // By the place of the row: a row that is never updated stays where it is, and nothing has to be sorted or joined.
  const { numAffectedRows = 0n } = await sql`
    DELETE FROM ${sql.table(table)} WHERE ctid = ANY(ARRAY(
      SELECT ctid FROM ${sql.table(table)} WHERE link_key = ${linkKey} LIMIT ${most}))`.execute(transaction);
  return Number(numAffectedRows);
}

export interface ClickRemover {
  /** Removes a batch now, which is all there is for most links, and the rest in the background. */
  removeSome(): Promise<void>;
  close(): Promise<void>;
}

/** Makes the remover of a process. What it leaves when the process stops, a job goes on with. */
export function createClickRemover(platform: Pick<Platform, 'database' | 'log'>): ClickRemover {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;

  async function removeAll(): Promise<void> {
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      let waitMs: number;
      try {
        const { done } = await removeClickBatch(platform);
        if (done) return;
        // Half of the time belongs to others.
        waitMs = Math.max(SHORTEST_PAUSE_MS, performance.now() - startedAt);
      } catch (error) {
        platform.log.warn({ error: messageOf(error) }, 'removing the clicks of a deleted link failed');
        waitMs = RETRY_AFTER_MS;
      }
      await pause(waitMs, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  }

  return {
    removeSome: async () => {
      // The link is gone: that this part of it failed is no failure of the deletion.
      const first = await removeClickBatch(platform).catch(() => ({ done: false, rows: 0 }));
      if (first.done || running) return;
      running = removeAll().finally(() => {
        running = undefined;
      });
    },
    close: async () => {
      stopping.abort();
      await running;
    },
  };
}
