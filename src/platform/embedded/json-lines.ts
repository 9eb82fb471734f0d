// JSON values, one a line, over a socket, with a bound on the length of a line.
import type { Socket } from 'node:net';

/** Longest line in bytes; whoever sends a longer one is cut off. */
export const LINE_LIMIT_BYTES = 1024 * 1024;

const NEWLINE = 0x0a;

/** One line of the protocol. */
export function encodeLine(value: unknown): string {
  return `${JSON.stringify(value)}\n`;
}

/**
 * Reads lines from a socket, and destroys it where one is too long or no JSON.
 *
 * @param onValue called with each parsed line
 */
export function readLines(socket: Socket, onValue: (value: unknown) => void): void {
  let pending: Buffer[] = [];
  let pendingBytes = 0;
  const keep = (part: Buffer) => {
    pending.push(part);
    pendingBytes += part.length;
    if (pendingBytes > LINE_LIMIT_BYTES) socket.destroy(new Error('a line is too long'));
  };
  const finishLine = () => {
    const line = Buffer.concat(pending).toString('utf8');
    pending = [];
    pendingBytes = 0;
    const value = parse(line);
    if (value === undefined) socket.destroy(new Error('a line is no JSON'));
    else onValue(value);
  };
  socket.on('data', (chunk: Buffer) => {
    let start = 0;
    for (
      let end = chunk.indexOf(NEWLINE);
      end >= 0 && !socket.destroyed;
      end = chunk.indexOf(NEWLINE, start)
    ) {
      keep(chunk.subarray(start, end));
      if (!socket.destroyed) finishLine();
      start = end + 1;
    }
    if (!socket.destroyed && start < chunk.length) keep(chunk.subarray(start));
  });
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}
