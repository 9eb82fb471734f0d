// From the journal in Redis to the tables. How far it has come is committed with the clicks themselves, so that
// whoever dies in between, and however often, each click is counted once.
import type { Database } from '../../../platform/database/connect.ts';
import type { Journal } from '../../../platform/ephemeral/store.ts';
import { type ClickBatch, decodeBatch } from './click-batch.ts';
import { lockLedger, recordClicks } from './record-clicks.ts';

export const CLICK_JOURNAL = 'link-clicks';

// Clicks of a few links are cheap to write together; each link more is a row to read, change and write back, while
// whoever deletes or unlocks a link waits for the ledger.
const ENTRIES_A_BATCH = 50;
const LINKS_A_BATCH = 2_000;

export interface DrainResult {
  /** Clicks written. */
  recorded: number;
  /** Whether nothing was left when it ended. */
  empty: boolean;
}

/**
 * Writes down one batch of the journal.
 *
 * @param wait - whether to wait for another process that is at it; otherwise the batch is left to that one
 */
export async function drainBatch(database: Database, journal: Journal, wait: boolean): Promise<DrainResult> {
  // Most of the time there is nothing: no transaction for that.
  if ((await journal.readAfter('0-0', 1)).length === 0) return { recorded: 0, empty: true };
  const drained = await database.transaction().execute(async (transaction) => {
    const position = await lockLedger(transaction, wait);
    if (position === undefined) return undefined;
    const entries = await journal.readAfter(position, ENTRIES_A_BATCH);
    const batches: ClickBatch[] = [];
    const links = new Set<number>();
    for (const { entry } of entries) {
      if (links.size >= LINKS_A_BATCH) break;
      const batch = decodeBatch(entry);
      for (const linkKey of batch.tallies.keys()) links.add(linkKey);
      batches.push(batch);
    }
    const last = entries[batches.length - 1];
    if (!last) return { recorded: 0, position, empty: true };
    const live = await recordClicks(transaction, batches);
    await transaction.updateTable('clickLedger').set({ journalPosition: last.position }).execute();
    return {
      recorded: live.clicks,
      position: last.position,
      empty: batches.length < ENTRIES_A_BATCH && batches.length === entries.length,
    };
  });
  if (!drained) return { recorded: 0, empty: true };
  // Only now: what is forgotten before the commit would be lost with it.
  await journal.forgetUpTo(drained.position);
  return drained;
}
