// Tells a database that is away or out of room from a statement that is wrong.
import { codeOf, Failure, messageOf } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';

const SYSTEM_CODES = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ENOENT',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
]);
// Shutdown, crash recovery, too many connections, out of resources, I/O error, read-only after a failover (PostgreSQL, appendix A).
const SQLSTATES = /^(08...|57P0[1-5]|53...|58...|25006|25P0[34])$/;
const DRIVER_MESSAGES =
  /^(Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after|driver has already been destroyed|not queryable)/i;

/** Whether an error means that the database cannot be used now, and the same request may succeed later. */
export function isDatabaseUnavailable(error: unknown): boolean {
  if (error instanceof AggregateError) return error.errors.some(isDatabaseUnavailable);
  const code = codeOf(error);
  if (code !== undefined && (SYSTEM_CODES.has(code) || SQLSTATES.test(code))) return true;
  return error instanceof Error && DRIVER_MESSAGES.test(error.message);
}

/** The failure an operator sees when DATABASE_URL leads nowhere; the password in it is never shown. */
export function databaseUnreachable(error: unknown, databaseUrl: string | undefined): Failure {
  return new Failure({
    code: 'DATABASE_UNREACHABLE',
    message: `the database ${databaseUrl === undefined ? 'in the data folder' : withoutPassword(databaseUrl)} cannot be used: ${messageOf(error)}`,
    hint:
      databaseUrl === undefined
        ? 'see whether the data folder is whole and the disk has room'
        : 'see whether PostgreSQL runs there and DATABASE_URL names the right host, port, user, password and database',
    exit: EXIT.databaseUnreachable,
    cause: error,
  });
}

/** A URL fit to be shown: `postgres://svc:***@db:5432/svc`. Of a list (a Redis cluster), each. */
export function withoutPassword(text: string): string {
  const [first = '', ...others] = text.split(/,(?=\s*rediss?:\/\/)/);
  if (others.length > 0) return [first, ...others].map((part) => withoutPassword(part.trim())).join(',');
  if (!URL.canParse(text)) return '(not a URL)';
  const url = new URL(text);
  if (url.password !== '') url.password = '***';
  for (const name of [...url.searchParams.keys()])
    if (/pass|key|secret/i.test(name)) url.searchParams.set(name, '***');
  return url.href;
}
