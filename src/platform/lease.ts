// A named lock in the database that ends by itself when its holder dies, on PostgreSQL and on the embedded
// database alike. Every batch of work renews it in its own transaction, so a holder that was late stops writing.
import { randomUUID } from 'node:crypto';
import { hostname } from 'node:os';
import type { Clock } from './clock.ts';
import type { Database } from './database/connect.ts';
import { Failure } from './errors.ts';
import { EXIT } from './exit-codes.ts';

const LEASE_MS = 60_000;

export interface Lease {
  /** Names this holding of the lease, and no other: a fence for what is done under it. */
  readonly token: string;
  /**
   * Renews the lease inside a transaction, which must not commit without it.
   *
   * @throws {Failure} LEASE_LOST when somebody else has taken the lease meanwhile
   */
  renew(transaction: Database): Promise<void>;
}

export interface LeaseParts {
  database: Database;
  clock: Clock;
}

/**
 * Runs `work` while holding the named lease.
 *
 * @param durationMs - the lease ends so long after it was last renewed; a minute unless told otherwise
 * @throws {Failure} LEASE_HELD (exit 11) that says who holds it
 */
export async function withLease<T>(
  { database, clock }: LeaseParts,
  { name, command, durationMs = LEASE_MS }: { name: string; command: string; durationMs?: number },
  work: (lease: Lease) => Promise<T>,
): Promise<T> {
  const token = randomUUID();
  const holder = `${command} (process ${process.pid} on ${hostname()})`;
  const window = () => ({ acquiredAt: new Date(clock.now()), expiresAt: new Date(clock.now() + durationMs) });

  const taken = await database
    .insertInto('lease')
    .values({ name, token, holder, ...window() })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ token, holder, ...window() })
        .where('lease.expiresAt', '<=', new Date(clock.now())),
    )
    .returning('token')
    .executeTakeFirst();
  if (!taken) throw await held(database, name);

  const lease: Lease = {
    token,
    renew: async (transaction) => {
      const renewed = await transaction
        .updateTable('lease')
        .set({ expiresAt: new Date(clock.now() + durationMs) })
        .where('name', '=', name)
        .where('token', '=', token)
        .returning('token')
        .executeTakeFirst();
      if (!renewed) throw lost(name);
    },
  };
  try {
    return await work(lease);
  } finally {
    await database.deleteFrom('lease').where('name', '=', name).where('token', '=', token).execute();
  }
}

async function held(database: Database, name: string): Promise<Failure> {
  const row = await database.selectFrom('lease').selectAll().where('name', '=', name).executeTakeFirst();
  return new Failure({
    code: 'LEASE_HELD',
    message: row
      ? `${name} is already running: ${row.holder}, since ${row.acquiredAt.toISOString()}`
      : `${name} was running a moment ago`,
    hint: row
      ? `wait for it; if that process died, its lock ends by itself at ${row.expiresAt.toISOString()}`
      : 'run it again',
    exit: EXIT.lockHeld,
  });
}

function lost(name: string): Failure {
  return new Failure({
    code: 'LEASE_LOST',
    message: `${name} was paused for so long that another process has taken over`,
    hint: 'nothing is wrong with the data: what was done is done, the other process goes on',
    exit: EXIT.lockHeld,
  });
}
