// What can go wrong with the embedded database, each with a stable code and a sentence that says what to do.

/** Who owns a data directory, as its owner wrote it down. */
export interface DataDirHolder {
  pid: number;
  command: string;
  /** ISO timestamp of the moment the directory was taken. */
  since: string;
}

/** Base of every error that opening or running the embedded database raises on purpose. */
export class EmbeddedDatabaseError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
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
      `The data directory ${dataDir} is held by ${who}${detail}. ` +
        'Stop that process, or choose another directory with SVC_DATA_DIR or --data-dir.',
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
}

/** An error as it can be posted from the worker thread. */
export function toPortableError(error: unknown): PortableError {
  if (error instanceof EmbeddedDatabaseError) return { code: error.code, message: error.message };
  const { code, message } = workerDied(error instanceof Error ? error.message : String(error));
  return { code, message };
}

/** The error that was posted, as an instance of its class again. */
export function fromPortableError({ code, message }: PortableError): EmbeddedDatabaseError {
  const match = Object.entries(CLASSES).find(([name]) => name === code);
  return match ? new match[1](code, message) : new EmbeddedDatabaseError(code, message);
}

/** The error for a full disk. */
export function diskFull(dataDir: string, detail: string, options?: ErrorOptions): DiskFullError {
  const message =
    `The file system of ${dataDir} is full (${detail}). ` +
    'Free space there and start again: nothing acknowledged is lost.';
  return new DiskFullError('DISK_FULL', message, options);
}

/** The error for files of another PostgreSQL. */
export function otherVersion(dataDir: string, detail: string): DatabaseVersionError {
  const message =
    `The database in ${dataDir} was made by another version of PostgreSQL (${detail}). ` +
    'Run the release that made it, or choose another directory with SVC_DATA_DIR or --data-dir.';
  return new DatabaseVersionError('DATABASE_VERSION', message);
}

/** The error for damaged files. */
export function corrupt(dataDir: string, detail: string): DatabaseCorruptError {
  const message =
    `The database in ${dataDir} is damaged (${detail}). Restore the directory from a backup, ` +
    'or move its `pgdata` away to begin with an empty database.';
  return new DatabaseCorruptError('DATABASE_CORRUPT', message);
}

/** The error for a worker thread or backend that ended by itself. */
export function workerDied(detail: string, options?: ErrorOptions): DatabaseWorkerError {
  const message =
    `The embedded database stopped unexpectedly: ${detail}. ` +
    'Restart svc: what was acknowledged is recovered then.';
  return new DatabaseWorkerError('DATABASE_WORKER_DIED', message, options);
}

function codeOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
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
  const unusable = (code: string, why: string, what: string) =>
    new DataDirUnusableError(code, `The data directory ${dataDir} ${why} (${cause.message}). ${what}`, {
      cause,
    });
  const elsewhere = 'or choose another directory with SVC_DATA_DIR or --data-dir.';
  switch (codeOf(error)) {
    case 'ENOSPC':
    case 'EDQUOT':
      return diskFull(dataDir, cause.message, { cause });
    case 'EACCES':
    case 'EPERM':
      return unusable(
        'DATA_DIR_DENIED',
        'cannot be read and written by this user',
        `Change its owner, ${elsewhere}`,
      );
    case 'EROFS':
      return unusable('DATA_DIR_DENIED', 'is on a read-only file system', `Mount it writable, ${elsewhere}`);
    case 'ENOTDIR':
    case 'EEXIST':
      return unusable('DATA_DIR_NOT_A_DIRECTORY', 'is not a directory', `Move that file away, ${elsewhere}`);
    default:
      return cause;
  }
}
