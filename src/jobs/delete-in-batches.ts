// Long deletions of jobs: in batches, so that nobody waits for them and they can end at any time.
import { setTimeout as pause } from 'node:timers/promises';
import type { Kysely } from 'kysely';
import { inTransaction } from '../platform/database/in-transaction.ts';
import type { Tables } from '../platform/database/tables.ts';
import type { Platform } from '../platform/platform.ts';
import type { JobContext } from './run-job.ts';

const ROWS_A_BATCH = 500;

/**
 * Deletes batch by batch, each in a transaction that renews the job's lease, with pauses as long as a batch took.
 *
 * @param remove - deletes at most so many rows, answers how many
 * @returns how many are gone; not complete when it was interrupted: the next run goes on
 */
export async function deleteInBatches(
  { database }: Platform,
  { lease, signal }: Pick<JobContext, 'lease' | 'signal'>,
  remove: (transaction: Kysely<Tables>, most: number) => Promise<number>,
): Promise<{ rows: number; complete: boolean }> {
  let rows = 0;
  while (!signal.aborted) {
    const startedAt = performance.now();
    const removed = await inTransaction(database, async (transaction) => {
      await lease.renew(transaction);
      return remove(transaction, ROWS_A_BATCH);
    });
    rows += removed;
    if (removed < ROWS_A_BATCH) return { rows, complete: true };
    await pause(performance.now() - startedAt, undefined, { signal }).catch(() => undefined);
  }
  return { rows, complete: false };
}
