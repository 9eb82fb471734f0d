// Watches the room left beside the database. PostgreSQL dies when its log cannot grow, so writes stop earlier.
import { statfsSync } from 'node:fs';

/** Below this writes are refused; PostgreSQL needs some of it to close and to recover. */
export const DEFAULT_RESERVED_BYTES = 32 * 1024 * 1024;

const CHECK_EVERY_MS = 20;
const CHECK_EVERY_BYTES = 1024 * 1024;

/** Asked before each unit; looks at the file system when enough time or enough data has gone by. */
export class DiskSpace {
  readonly #directory: string;
  readonly #reservedBytes: number;
  #checkedAt = Number.NEGATIVE_INFINITY;
  #bytesSince = 0;
  #freeBytes = Number.POSITIVE_INFINITY;

  constructor(directory: string, reservedBytes: number) {
    this.#directory = directory;
    this.#reservedBytes = reservedBytes;
  }

  /**
   * Why nothing may be written now, or undefined where there is room.
   *
   * @param upcomingBytes size of the request that comes next
   */
  shortage(upcomingBytes: number): string | undefined {
    this.#bytesSince += upcomingBytes;
    const now = performance.now();
    if (now - this.#checkedAt >= CHECK_EVERY_MS || this.#bytesSince >= CHECK_EVERY_BYTES) {
      const { bavail, bsize } = statfsSync(this.#directory);
      this.#freeBytes = bavail * bsize;
      this.#checkedAt = now;
      this.#bytesSince = 0;
    }
    // A row is written at least twice: to the log and to its table.
    if (this.#freeBytes >= this.#reservedBytes + 2 * upcomingBytes) return undefined;
    const free = Math.floor(this.#freeBytes / 1024 / 1024);
    return `the disk is full: ${free} MiB are left for the embedded database, nothing can be written until more is free`;
  }
}
