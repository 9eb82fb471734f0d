// Opens the embedded database: owns the data directory and runs PGlite in a worker thread, or joins the
// process that already owns it. Importing this module loads neither PGlite nor pg.
import { accessSync, constants, mkdirSync, realpathSync, statSync } from 'node:fs';
import { connect } from 'node:net';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DatabaseHost } from './database-host.ts';
import { DataDirHeldError, DataDirUnusableError, explainFileError } from './errors.ts';
import { type DataDirLock, tryLockDataDir } from './lock.ts';
import {
  databaseSocket,
  isTrustworthy,
  makeSocketDirectory,
  type OwnerRecord,
  publicationsSocket,
  readOwnerRecord,
  removeOwnerRecord,
  removeSockets,
  SOCKET_PORT,
  writeOwnerRecord,
} from './owner-record.ts';

export interface EmbeddedDatabase {
  /** Options for `new pg.Pool`: `host` is the directory of the socket, pg connects to `${host}/.s.PGSQL.${port}`. */
  connection: { host: string; port: number; user: string; database: string };
  /** Unix socket path for `serveLocalPublications` (owner) and `connectLocalPublications` (everybody else). */
  publicationsSocket: string;
  /** Whether this process owns the data directory. */
  owner: boolean;
  /** Resolves with the reason when the database worker died unexpectedly; never rejects. */
  failed: Promise<Error>;
  /**
   * Ends the use of the database; end your own pool first. Owner: finishes what runs, closes PGlite, unlinks the
   * sockets, releases the lock; one that opened with `share` lets other processes finish before. Idempotent.
   */
  close(): Promise<void>;
}

export interface OpenEmbeddedDatabaseOptions {
  /** Created with mode 0700 where it does not exist. */
  dataDir: string;
  /** What this process is, for the message another process shows: `svc serve`. */
  command: string;
  /** `own`: must own the directory. `share`: joins the owner where there is one, else owns it until closed. */
  mode: 'own' | 'share';
  /** A client silent inside a transaction for this long is dropped. Default 5000. */
  silentTransactionTimeoutMs?: number;
}

const DEFAULT_SILENT_TRANSACTION_TIMEOUT_MS = 5000;
/** An owner that is starting or stopping may take this long; a first start without a template runs initdb. */
const JOIN_TIMEOUT_MS = 30_000;
const JOIN_RETRY_MS = 25;
/** An owner writes its record right after it took the lock. */
const RECORD_TIMEOUT_MS = 500;
/** A terminal command that owns the directory waits this long for the commands that joined it. */
const LINGER_MS = 30_000;
/** What runs when the database is closed may take this long, within the 10 s a shutdown has. */
const GRACE_MS = 5000;

/**
 * Opens the embedded database of a data directory.
 *
 * @throws DataDirHeldError (`DATA_DIR_HELD`) where another process owns it: at once for `own`; for `share` only where
 *   the owner does not answer for 30 s
 * @throws DataDirUnusableError (`DATA_DIR_DENIED`, `DATA_DIR_NOT_A_DIRECTORY`, `DATA_DIR_FOREIGN`)
 * @throws DiskFullError (`DISK_FULL`), DatabaseVersionError (`DATABASE_VERSION`), DatabaseCorruptError
 *   (`DATABASE_CORRUPT`), DatabaseWorkerError (`DATABASE_WORKER_DIED`)
 */
export async function openEmbeddedDatabase(options: OpenEmbeddedDatabaseOptions): Promise<EmbeddedDatabase> {
  const dataDir = prepareDataDir(options.dataDir);
  const deadline = performance.now() + JOIN_TIMEOUT_MS;
  for (;;) {
    const lock = takeLock(dataDir);
    if (lock) return own(dataDir, lock, options);
    if (options.mode === 'own') throw new DataDirHeldError(dataDir, await readHolder(dataDir));
    const record = readOwnerRecord(dataDir);
    if (record && (await answers(record, dataDir))) return joinOwner(record);
    if (performance.now() > deadline) {
      throw new DataDirHeldError(dataDir, record, `, which does not answer for ${JOIN_TIMEOUT_MS / 1000} s`);
    }
    await delay(JOIN_RETRY_MS);
  }
}

/** Makes the directory where it is missing, and returns its real path once it is known to be usable. */
function prepareDataDir(given: string): string {
  const dataDir = resolve(given);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    accessSync(dataDir, constants.R_OK | constants.W_OK | constants.X_OK);
    return realpathSync(dataDir);
  } catch (error) {
    throw explainFileError(error, dataDir);
  }
}

function takeLock(dataDir: string): DataDirLock | undefined {
  try {
    return tryLockDataDir(dataDir);
  } catch (error) {
    throw explainFileError(error, dataDir);
  }
}

/** The record of who holds the lock, given the moment it needs to be written. */
async function readHolder(dataDir: string): Promise<OwnerRecord | undefined> {
  const deadline = performance.now() + RECORD_TIMEOUT_MS;
  for (;;) {
    const record = readOwnerRecord(dataDir);
    if ((record && isRunning(record.pid)) || performance.now() > deadline) return record;
    await delay(JOIN_RETRY_MS);
  }
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

/** Whether the owner accepts connections on a socket that can only be its own. */
async function answers(record: OwnerRecord, dataDir: string): Promise<boolean> {
  if (!isTrustworthy(record.socketDirectory, dataDir)) return false;
  const socket = connect(databaseSocket(record.socketDirectory));
  return new Promise((done) => {
    socket.once('connect', () => done(true));
    socket.once('error', () => done(false));
  }).then((connected) => {
    socket.destroy();
    return connected === true;
  });
}

function connectionTo(socketDirectory: string): EmbeddedDatabase['connection'] {
  return { host: socketDirectory, port: SOCKET_PORT, user: 'postgres', database: 'postgres' };
}

function joinOwner(record: OwnerRecord): EmbeddedDatabase {
  return {
    connection: connectionTo(record.socketDirectory),
    publicationsSocket: publicationsSocket(record.socketDirectory),
    owner: false,
    // The owner's worker is not ours to watch: its end shows as lost connections.
    failed: new Promise(() => {}),
    async close() {},
  };
}

async function own(
  dataDir: string,
  lock: DataDirLock,
  options: OpenEmbeddedDatabaseOptions,
): Promise<EmbeddedDatabase> {
  let socketDirectory: string | undefined;
  const release = () => {
    if (socketDirectory !== undefined) removeSockets(socketDirectory);
    removeOwnerRecord(dataDir);
    lock.release();
  };
  try {
    refuseForeignDatabase(dataDir);
    const previous = readOwnerRecord(dataDir);
    if (previous) removeSockets(previous.socketDirectory);
    socketDirectory = makeSocketDirectory(dataDir);
    const since = new Date().toISOString();
    writeOwnerRecord(dataDir, { pid: process.pid, command: options.command, since, socketDirectory });
    const host = await DatabaseHost.start({
      dataDir,
      socketPath: databaseSocket(socketDirectory),
      silentTransactionTimeoutMs: options.silentTransactionTimeoutMs ?? DEFAULT_SILENT_TRANSACTION_TIMEOUT_MS,
    });
    const lingerMs = options.mode === 'share' ? LINGER_MS : 0;
    let closing: Promise<void> | undefined;
    return {
      connection: connectionTo(socketDirectory),
      publicationsSocket: publicationsSocket(socketDirectory),
      owner: true,
      failed: host.failed,
      close() {
        closing ??= host.close({ lingerMs, graceMs: GRACE_MS }).finally(release);
        return closing;
      },
    };
  } catch (error) {
    release();
    throw explainFileError(error, dataDir);
  }
}

/**
 * Like PostgreSQL itself: a database that belongs to another user would get files its owner cannot read, for example
 * when root runs one command over the data of a service.
 */
function refuseForeignDatabase(dataDir: string): void {
  const owner = statSync(join(dataDir, 'pgdata'), { throwIfNoEntry: false })?.uid;
  const self = process.geteuid?.();
  if (owner === undefined || self === undefined || owner === self) return;
  throw new DataDirUnusableError(
    'DATA_DIR_FOREIGN',
    `the database in ${dataDir} belongs to user id ${owner}, and this process runs as ${self}`,
    'run it as that user, or choose another directory with SVC_DATA_DIR or --data-dir',
  );
}
