// What writing batches would do, for a dry run.
import { createHash } from 'node:crypto';
import type { Kysely } from 'kysely';
import type { Tables } from '../../../platform/database/tables.ts';
import type { CheckedRow } from './check-row.ts';
import { type BatchOutcome, destinationsOf, type OnConflict } from './write-batch.ts';

export type Planner = (rows: readonly CheckedRow[]) => Promise<BatchOutcome>;

/** Makes a planner, which remembers the codes that earlier batches would have taken. Writes nothing. */
export function createPlanner(database: Kysely<Tables>, onConflict: OnConflict): Planner {
  // Only a digest of each destination: a dry run of millions of rows should not hold them all.
  const taken = new Map<string, string>();
  return async (rows) => {
    const outcome: BatchOutcome = { imported: 0, unchanged: 0, conflicts: [] };
    const existing = await destinationsOf(database, rows);
    for (const row of rows) {
      const wanted = digestOf(row.originalUrl);
      const there = existing.get(row.shortCode);
      const known = row.isGenerated
        ? undefined
        : there === undefined
          ? taken.get(row.shortCode)
          : digestOf(there);
      if (known === undefined) {
        outcome.imported++;
        if (!row.isGenerated) taken.set(row.shortCode, wanted);
      } else if (known === wanted) outcome.unchanged++;
      else if (onConflict === 'refuse') outcome.conflicts.push({ row });
      else {
        outcome.imported++;
        outcome.conflicts.push({ row, renamed: '' });
      }
    }
    return outcome;
  };
}

function digestOf(url: string): string {
  return createHash('sha256').update(url).digest('base64').slice(0, 22);
}
