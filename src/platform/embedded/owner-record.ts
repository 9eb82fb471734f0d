// Who owns a data directory and where its sockets are, written down for the other processes.
import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import type { DataDirHolder } from './errors.ts';

const RECORD_FILE = 'owner.json';
const SOCKET_DIRECTORY = 'run';
const TEMPORARY_PREFIX = 'svc-run-';
const PUBLICATIONS_SOCKET = 'publications.sock';
/** pg names a unix socket by its port; the number means nothing else. */
export const SOCKET_PORT = 5432;

/** Bytes of a socket path that fit beside the closing NUL: sockaddr_un of Linux has 108, of the BSDs and macOS 104. */
const SOCKET_PATH_LIMIT = process.platform === 'linux' ? 107 : 103;

/** What owner.json holds. */
export interface OwnerRecord extends DataDirHolder {
  socketDirectory: string;
}

/** Path of the socket that pg connects to. */
export function databaseSocket(socketDirectory: string): string {
  return join(socketDirectory, `.s.PGSQL.${SOCKET_PORT}`);
}

/** Path of the socket for publications. */
export function publicationsSocket(socketDirectory: string): string {
  return join(socketDirectory, PUBLICATIONS_SOCKET);
}

/**
 * Makes the directory for the sockets of an owner, only its own user can enter it: `run` in the data directory,
 * or a new one under the temporary directory where that path would be too long for a socket.
 */
export function makeSocketDirectory(dataDir: string): string {
  const directory = join(dataDir, SOCKET_DIRECTORY);
  if (Buffer.byteLength(publicationsSocket(directory)) > SOCKET_PATH_LIMIT) {
    return mkdtempSync(join(tmpdir(), TEMPORARY_PREFIX));
  }
  rmSync(directory, { recursive: true, force: true });
  mkdirSync(directory, { mode: 0o700 });
  return directory;
}

/** Removes the sockets of an owner that is gone or going, and its directory where it is a temporary one. */
export function removeSockets(socketDirectory: string): void {
  if (!isTrustworthy(socketDirectory)) return;
  rmSync(databaseSocket(socketDirectory), { force: true });
  rmSync(publicationsSocket(socketDirectory), { force: true });
  const temporary =
    dirname(socketDirectory) === tmpdir() && basename(socketDirectory).startsWith(TEMPORARY_PREFIX);
  if (temporary) rmSync(socketDirectory, { recursive: true, force: true });
}

/** Writes the record so that a reader sees the old one or the new one, never half of it. */
export function writeOwnerRecord(dataDir: string, record: OwnerRecord): void {
  const file = join(dataDir, RECORD_FILE);
  const partial = `${file}.partial`;
  writeFileSync(partial, `${JSON.stringify(record, null, 2)}\n`, { mode: 0o600 });
  renameSync(partial, file);
}

export function removeOwnerRecord(dataDir: string): void {
  rmSync(join(dataDir, RECORD_FILE), { force: true });
}

/** The record, or undefined where none can be read. It may be that of an owner that died. */
export function readOwnerRecord(dataDir: string): OwnerRecord | undefined {
  try {
    const record: unknown = JSON.parse(readFileSync(join(dataDir, RECORD_FILE), 'utf8'));
    return isOwnerRecord(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

function isOwnerRecord(value: unknown): value is OwnerRecord {
  if (typeof value !== 'object' || value === null) return false;
  const record: Partial<Record<keyof OwnerRecord, unknown>> = value;
  return (
    typeof record.pid === 'number' &&
    typeof record.command === 'string' &&
    typeof record.since === 'string' &&
    typeof record.socketDirectory === 'string'
  );
}

/**
 * Whether the sockets in a directory can only be those of the data directory's owner: a real directory that nobody
 * else can enter, which belongs to this user or to the one the data directory belongs to.
 *
 * @param dataDir where it is known; without it only this user's directories are trusted
 */
export function isTrustworthy(socketDirectory: string, dataDir?: string): boolean {
  try {
    const directory = lstatSync(socketDirectory);
    if (!directory.isDirectory() || (directory.mode & 0o077) !== 0) return false;
    if (directory.uid === process.geteuid?.()) return true;
    return dataDir !== undefined && directory.uid === statSync(join(dataDir, RECORD_FILE)).uid;
  } catch {
    return false;
  }
}
