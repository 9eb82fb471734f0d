// Transactions, with what PostgreSQL asks of who runs them: those it ended to resolve a deadlock, or because a prepared
// statement was no good any more, are to be run again.
import type { Kysely, Transaction } from 'kysely';
import { codeOf } from '../errors.ts';
import { isStalePlan, isStatementLost } from './prepared-statements.ts';
import type { Tables } from './tables.ts';

const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';

/** Whether PostgreSQL ended a transaction for no fault of its own, and the same one may succeed when it is run again. */
export function isConflict(error: unknown): boolean {
  const code = codeOf(error);
  return (
    code === SERIALIZATION_FAILURE ||
    code === DEADLOCK_DETECTED ||
    isStalePlan(error) ||
    isStatementLost(error)
  );
}

/**
 * Runs work in a transaction; once more when PostgreSQL ended it for the sake of another.
 *
 * @param work - touches nothing but the database, since it may run twice
 */
export async function inTransaction<T>(
  database: Kysely<Tables>,
  work: (transaction: Transaction<Tables>) => Promise<T>,
): Promise<T> {
  try {
    return await database.transaction().execute(work);
  } catch (error) {
    if (!isConflict(error)) throw error;
    return database.transaction().execute(work);
  }
}
