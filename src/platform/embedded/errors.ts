// What can go wrong with the embedded database, each with a stable code, and a hint that says what to do.
import { codeOf, Failure } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';

/** Who owns a data directory, as its owner wrote it down. */
export interface DataDirHolder {
  pid: number;
  command: string;
  /** ISO timestamp of the moment the directory was taken. */
  since: string;
}

const EXITS: Record<string, number> = {
  DATA_DIR_HELD: EXIT.lockHeld,
  DATA_DIR_DENIED: EXIT.configuration,
  DATA_DIR_NOT_A_DIRECTORY: EXIT.configuration,
  DATA_DIR_FOREIGN: EXIT.configuration,
};

/** Base of every error that opening or running the embedded database raises on purpose. */
export class EmbeddedDatabaseError extends Failure {
  constructor(code: string, message: string, hint: string, { cause }: ErrorOptions = {}) {
    super({ code, message, hint, exit: EXITS[code] ?? EXIT.databaseUnreachable, cause });
    this.name = new.target.name;
  }
}

/** Another process owns the data directory. */
export class DataDirHeldError extends EmbeddedDatabaseError {
  readonly holder: DataDirHolder | undefined;

  constructor(dataDir: string, holder: DataDirHolder | undefined, detail = '') {
    const who = holder
      ? `\`${holder.command}\` (process ${holder.pid}, since ${holder.since})`
      : 'another process that did not say who it is';
    super(
      'DATA_DIR_HELD',
      `the data directory ${dataDir} is held by ${who}${detail}`,
      'stop that process, or choose another directory with SVC_DATA_DIR or --data-dir',
    );
    this.holder = holder;
  }
}

/** The data directory cannot be used: no permission, not a directory, foreign files. */
export class DataDirUnusableError extends EmbeddedDatabaseError {}

/** The file system of the data directory has no room left. */
export class DiskFullError extends EmbeddedDatabaseError {}

/** The files were made by a PostgreSQL of another major version. */
export class DatabaseVersionError extends EmbeddedDatabaseError {}

/** The files are damaged or incomplete. */
export class DatabaseCorruptError extends EmbeddedDatabaseError {}

/** The worker thread that hosts the database ended, or its database did. */
export class DatabaseWorkerError extends EmbeddedDatabaseError {}

const CLASSES = {
  DISK_FULL: DiskFullError,
  DATABASE_VERSION: DatabaseVersionError,
  DATABASE_CORRUPT: DatabaseCorruptError,
  DATABASE_WORKER_DIED: DatabaseWorkerError,
  DATA_DIR_DENIED: DataDirUnusableError,
  DATA_DIR_NOT_A_DIRECTORY: DataDirUnusableError,
  DATA_DIR_FOREIGN: DataDirUnusableError,
};

/** What of an error crosses from the worker thread to its owner. */
export interface PortableError {
  code: string;
  message: string;
  hint: string;
}

/** An error as it can be posted from the worker thread. */
export function toPortableError(error: unknown): PortableError {
  const known =
    error instanceof EmbeddedDatabaseError
      ? error
      : workerDied(error instanceof Error ? error.message : String(error));
  return { code: known.code, message: known.message, hint: known.hint };
}

/** The error that was posted, as an instance of its class again. */
export function fromPortableError({ code, message, hint }: PortableError): EmbeddedDatabaseError {
  const match = Object.entries(CLASSES).find(([name]) => name === code);
  return match ? new match[1](code, message, hint) : new EmbeddedDatabaseError(code, message, hint);
}

/** The error for a full disk. */
export function diskFull(dataDir: string, detail: string, options?: ErrorOptions): DiskFullError {
  const message = `the file system of ${dataDir} is full (${detail})`;
  const hint = 'free space there and start again: nothing acknowledged is lost';
  return new DiskFullError('DISK_FULL', message, hint, options);
}

/** The error for files of another PostgreSQL. */
export function otherVersion(dataDir: string, detail: string): DatabaseVersionError {
  const message = `the database in ${dataDir} was made by another version of PostgreSQL (${detail})`;
  const hint = 'run the release that made it, or choose another directory with SVC_DATA_DIR or --data-dir';
  return new DatabaseVersionError('DATABASE_VERSION', message, hint);
}

/** The error for damaged files. */
export function corrupt(dataDir: string, detail: string): DatabaseCorruptError {
  const message = `the database in ${dataDir} is damaged (${detail})`;
  const hint =
    'restore the directory from a backup, or move its `pgdata` away to begin with an empty database';
  return new DatabaseCorruptError('DATABASE_CORRUPT', message, hint);
}

/** The error for a worker thread or backend that ended by itself. */
export function workerDied(detail: string, options?: ErrorOptions): DatabaseWorkerError {
  const message = `the embedded database stopped unexpectedly: ${detail}`;
  const hint = 'restart svc: what was acknowledged is recovered then';
  return new DatabaseWorkerError('DATABASE_WORKER_DIED', message, hint, options);
}

/**
 * Turns a failed file operation in the data directory into the error an operator can act on.
 *
 * @param error what `fs` threw; anything that is no system error comes back as it is
 * @param dataDir the directory, for the message
 */
export function explainFileError(error: unknown, dataDir: string): Error {
  if (error instanceof EmbeddedDatabaseError) return error;
  const cause = error instanceof Error ? error : new Error(String(error));
  const unusable = (code: string, why: string, hint: string) =>
    new DataDirUnusableError(code, `the data directory ${dataDir} ${why} (${cause.message})`, hint, {
      cause,
    });
  const elsewhere = 'or choose another directory with SVC_DATA_DIR or --data-dir';
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(dataDir, cause.message, { cause });
    case 'EACCES':
    case 'EPERM':
      return unusable(
        'DATA_DIR_DENIED',
        'cannot be read and written by this user',
        `change its owner, ${elsewhere}`,
      );
    case 'EROFS':
      return unusable('DATA_DIR_DENIED', 'is on a read-only file system', `mount it writable, ${elsewhere}`);
    case 'ENOTDIR':
    case 'EEXIST':
      return unusable('DATA_DIR_NOT_A_DIRECTORY', 'is not a directory', `move that file away, ${elsewhere}`);
    default:
      return cause;
  }
}
