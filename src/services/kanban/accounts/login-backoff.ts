// What slows guessing down: after 3 failures on an account each further one doubles the wait (contract, section 5).
// An attempt is counted before it is looked at, in one atomic statement, so that attempts that race cannot get past;
// what turns out right is taken back. Addresses without an account are counted alike.
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../../platform/database/tables.ts';
import { KanbanError } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';

export interface Attempt {
  emailHash: string;
  addressHash: string;
  /** Whether this address has signed in to the account lately: then the failures of others do not hold it up. */
  isKnownAddress: boolean;
}

const ANY_ADDRESS = '';
const FREE_FAILURES = 2;
const FIRST_WAIT_SECONDS = 2;
const LONGEST_WAIT_SECONDS = { address: 15 * 60, account: 60 };
// A day without a failure starts afresh.
const FORGET_AFTER_SECONDS = 86_400;

/**
 * Counts an attempt as a failure until it is known to be none.
 *
 * @throws {KanbanError} RATE_LIMITED during a wait; the attempt then does not count
 */
export async function beginAttempt({ platform }: KanbanService, attempt: Attempt): Promise<void> {
  const now = new Date(platform.clock.now());
  // An outer rejection rolls both counts back: a refused attempt does not lengthen a wait.
  await platform.database.transaction().execute(async (transaction) => {
    // The account first, by everybody: whoever races waits here, and no two wait for each other.
    if (!attempt.isKnownAddress) {
      await count(transaction, attempt.emailHash, ANY_ADDRESS, now, LONGEST_WAIT_SECONDS.account);
    }
    await count(transaction, attempt.emailHash, attempt.addressHash, now, LONGEST_WAIT_SECONDS.address);
  });
}

async function count(
  transaction: Kysely<Tables>,
  emailHash: string,
  addressHash: string,
  now: Date,
  longestWait: number,
): Promise<void> {
  const { rows } = await sql<{ blockedUntil: Date | null }>`
    WITH counted AS (
      INSERT INTO login_failure AS known (email_hash, address_hash, failures, failed_at, blocked_until)
      VALUES (${emailHash}, ${addressHash}, 1, ${now}, ${now})
      ON CONFLICT (email_hash, address_hash) DO UPDATE SET
        failures = CASE WHEN known.failed_at < ${now}::timestamptz - ${FORGET_AFTER_SECONDS} * interval '1 second'
          THEN 1 ELSE least(known.failures + 1, 30) END,
        failed_at = ${now},
        blocked_until = CASE
          WHEN known.failed_at < ${now}::timestamptz - ${FORGET_AFTER_SECONDS} * interval '1 second'
            OR known.failures < ${FREE_FAILURES} THEN ${now}
          ELSE ${now}::timestamptz + least(
            ${FIRST_WAIT_SECONDS} * 2 ^ least(known.failures - ${FREE_FAILURES}, 20), ${longestWait}
          ) * interval '1 second' END
      WHERE known.blocked_until <= ${now}
      RETURNING 1)
    SELECT (SELECT blocked_until FROM login_failure
      WHERE email_hash = ${emailHash} AND address_hash = ${addressHash}) AS blocked_until
    WHERE NOT EXISTS (SELECT FROM counted)`.execute(transaction);
  const [blocked] = rows;
  if (!blocked) return;
  const until = blocked.blockedUntil?.getTime() ?? now.getTime();
  const seconds = Math.max(1, Math.ceil((until - now.getTime()) / 1000));
  throw new KanbanError('RATE_LIMITED', `Too many failed attempts; try again in ${seconds} seconds.`, {
    retryAfterSeconds: seconds,
  });
}

/** Takes an attempt back that was neither right nor wrong: the second factor is still to come, or we are busy. */
export async function forgiveAttempt({ platform }: KanbanService, attempt: Attempt): Promise<void> {
  await platform.database
    .updateTable('loginFailure')
    .set({
      failures: sql<number>`failures - 1`,
      blockedUntil: new Date(platform.clock.now()),
    })
    .where('emailHash', '=', attempt.emailHash)
    .where('addressHash', 'in', rowsOf(attempt))
    .where('failures', '>', 0)
    .execute();
}

/** A right attempt starts the counts afresh. */
export async function endAttempt({ platform }: KanbanService, attempt: Attempt): Promise<void> {
  await platform.database
    .deleteFrom('loginFailure')
    .where('emailHash', '=', attempt.emailHash)
    .where('addressHash', 'in', [ANY_ADDRESS, attempt.addressHash])
    .execute();
}

function rowsOf({ addressHash, isKnownAddress }: Attempt): string[] {
  return isKnownAddress ? [addressHash] : [ANY_ADDRESS, addressHash];
}
