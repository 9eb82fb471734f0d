// Exclusive ownership of a data directory, released by the kernel when the process dies, however it dies.
//
// Node has no flock, and a pid file cannot be taken over without a race. SQLite holds an fcntl lock for the
// length of an exclusive transaction: the kernel drops it with the process (SIGKILL included), two processes
// never hold it at once, and a second connection of the same process is refused as well.
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';

const LOCK_FILE = 'owner.lock';

/** Held until released, or until the process ends. */
export interface DataDirLock {
  release(): void;
}

const SQLITE_BUSY = 5;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;

/**
 * Takes the data directory for this process without waiting.
 *
 * @param dataDir an existing, writable directory
 * @returns the lock, or undefined where another process (or this one) already holds it
 * @throws the error of SQLite where the lock file cannot be made or locked; `ENOSPC` where the disk is full
 */
export function tryLockDataDir(dataDir: string): DataDirLock | undefined {
  const { DatabaseSync } = loadSqlite();
  const file = join(dataDir, LOCK_FILE);
  let database: DatabaseSync | undefined;
  try {
    database = new DatabaseSync(file, { timeout: 0 });
    database.exec('PRAGMA journal_mode = OFF; BEGIN EXCLUSIVE');
  } catch (error) {
    database?.close();
    if (sqliteCode(error) === SQLITE_BUSY) return undefined;
    throw explainLockError(error, file);
  }
  const held = database;
  let released = false;
  return {
    release() {
      if (released) return;
      released = true;
      held.close();
    },
  };
}

/** The primary result code of SQLite (its low byte), or undefined for any other error. */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !('errcode' in error) || typeof error.errcode !== 'number')
    return undefined;
  return error.errcode & 0xff;
}

function explainLockError(error: unknown, file: string): Error {
  const cause = error instanceof Error ? error : new Error(String(error));
  const code = { [SQLITE_FULL]: 'ENOSPC', [SQLITE_CANTOPEN]: 'EACCES' }[sqliteCode(error) ?? 0];
  if (code === undefined) return cause;
  return Object.assign(new Error(`${file}: ${cause.message}`, { cause }), { code });
}

/**
 * Loads SQLite without the "experimental" warning that some Node versions print: it concerns us, not the user.
 * The load is synchronous, so no other warning can be swallowed with it.
 */
function loadSqlite(): typeof import('node:sqlite') {
  const emitWarning = process.emitWarning;
  process.emitWarning = () => {};
  try {
    return process.getBuiltinModule('node:sqlite');
  } finally {
    process.emitWarning = emitWarning;
  }
}
