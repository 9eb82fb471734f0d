// A second connection that holds what a server wants, so that a test decides who comes first.
import pg from 'pg';
import type { TestDatabase } from './databases.ts';
import { until } from './serve.ts';

export interface Rival {
  /** Begins a transaction, and runs a statement in it: what it locks is held. */
  hold(statement: string, values?: unknown[]): Promise<void>;
  /** Lets go of it; what the statement wrote is gone unless it is to be kept. */
  release(end?: 'ROLLBACK' | 'COMMIT'): Promise<void>;
  /** Waits until so many connections to the database wait for a lock. */
  untilWaiting(count: number): Promise<void>;
  /** Runs work, until it waits for a lock beside `others`, or is done. */
  startBeside<T>(
    others: number,
    work: () => Promise<T>,
  ): Promise<{ answer: Promise<T>; isDone: () => boolean }>;
  close(): Promise<void>;
}

/** Connects to a database on PostgreSQL. */
export async function openRival({ settings }: TestDatabase): Promise<Rival> {
  const client = new pg.Client({ connectionString: settings.DATABASE_URL });
  await client.connect();
  const waiting = async () => {
    // What is read of the others in a transaction stays as it was read, unless it is thrown away.
    await client.query('SELECT pg_stat_clear_snapshot()');
    const { rows } = await client.query<{ count: string }>(
      `SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    );
    return Number(rows[0]?.count);
  };
  return {
    hold: async (statement, values) => {
      await client.query('BEGIN');
      await client.query(statement, values);
    },
    release: async (end = 'ROLLBACK') => {
      await client.query(end);
    },
    untilWaiting: (count) => until(async () => (await waiting()) >= count),
    startBeside: async (others, work) => {
      let isDone = false;
      const answer = work().finally(() => {
        isDone = true;
      });
      await until(async () => isDone || (await waiting()) > others);
      return { answer, isDone: () => isDone };
    },
    close: () => client.end(),
  };
}
