// How far the import of a file has come: written in the transaction of each batch, so that it is always true.
import type { Kysely } from 'kysely';
import type { Tables } from '../../../platform/database/tables.ts';

export interface ImportCounts {
  /** Rows of the file that were dealt with, in one of the ways below. */
  rows: number;
  imported: number;
  /** Their link was there already. */
  unchanged: number;
  refused: number;
}

/** What earlier runs have done of a file; zeros when there was none. */
export async function readProgress(database: Kysely<Tables>, fileHash: string): Promise<ImportCounts> {
  const row = await database
    .selectFrom('linkImport')
    .select(['rowsDone', 'imported', 'refused'])
    .where('fileHash', '=', fileHash)
    .executeTakeFirst();
  if (!row) return noRows();
  const { rowsDone: rows, imported, refused } = row;
  return { rows, imported, unchanged: rows - imported - refused, refused };
}

/** Notes what all runs together have done of a file. */
export async function saveProgress(
  transaction: Kysely<Tables>,
  fileHash: string,
  { rows, imported, refused }: ImportCounts,
  updatedAt: Date,
): Promise<void> {
  const progress = { rowsDone: rows, imported, refused, updatedAt };
  await transaction
    .insertInto('linkImport')
    .values({ fileHash, ...progress })
    .onConflict((conflict) => conflict.column('fileHash').doUpdateSet(progress))
    .execute();
}

/** Counts of nothing. */
export function noRows(): ImportCounts {
  return { rows: 0, imported: 0, unchanged: 0, refused: 0 };
}

/** Counts of two runs or batches together. */
export function sumOf(one: ImportCounts, other: ImportCounts): ImportCounts {
  return {
    rows: one.rows + other.rows,
    imported: one.imported + other.imported,
    unchanged: one.unchanged + other.unchanged,
    refused: one.refused + other.refused,
  };
}
