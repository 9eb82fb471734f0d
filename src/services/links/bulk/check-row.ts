// Whether a row of a file may become a link: by the rules of the API, so that nothing comes in here that would be
// refused there. An expiry that is over is kept: that link has expired.
import { z } from 'zod';
import { generateCode, SHORT_CODE_PATTERN } from '../create-link.ts';
import { refuseDestination } from '../destination.ts';
import type { BulkRow } from './columns.ts';
import type { SourceRow } from './source-row.ts';

export interface CheckedRow {
  /** As `SourceRow.row`. */
  row: number;
  shortCode: string;
  /** Whether the row had none, so that any other will do. */
  isGenerated: boolean;
  originalUrl: string;
  createdAt: Date;
  expiresAt: Date | null;
  clicks: number;
  passwordHash: string | null;
  deleteTokenHash: Buffer | null;
}

export interface Rules {
  /** Host of the service itself. */
  ownHost: string;
  reservedCodes: ReadonlySet<string>;
  now: Date;
}

/** @returns the row as a link, or why it cannot become one */
export function checkRow(
  { row: number, fields: row, unreadable }: SourceRow,
  rules: Rules,
): CheckedRow | string {
  if (unreadable !== undefined) return unreadable;
  const { originalUrl, passwordHash = null, deleteTokenHash } = row;
  if (originalUrl === undefined) return 'has no destination';
  if (!originalUrl.isWellFormed()) return 'destination is not well-formed Unicode';
  const refused = refuseDestination(originalUrl, rules.ownHost);
  if (refused !== undefined) return `destination ${refused}`;
  const shortCode = row.shortCode?.replaceAll(/^\/|\/$/g, '');
  const refusedCode = shortCode === undefined ? undefined : refuseCode(shortCode, rules);
  if (refusedCode !== undefined) return refusedCode;
  const createdAt = row.createdAt === undefined ? rules.now : momentOf(row.createdAt);
  if (!createdAt) return notATime('createdAt');
  const expiresAt = row.expiresAt === undefined ? null : momentOf(row.expiresAt);
  if (expiresAt === undefined) return notATime('expiresAt');
  if (!/^\d{1,15}$/.test(row.clickCount ?? '0')) return 'clicks are not a whole number';
  const refusedAccess = refuseAccess(row, rules);
  if (refusedAccess !== undefined) return refusedAccess;
  return {
    row: number,
    shortCode: shortCode ?? generateCode(),
    isGenerated: shortCode === undefined,
    originalUrl,
    createdAt,
    expiresAt,
    clicks: Number(row.clickCount ?? 0),
    passwordHash,
    deleteTokenHash: deleteTokenHash === undefined ? null : Buffer.from(deleteTokenHash, 'hex'),
  };
}

function refuseCode(shortCode: string, { reservedCodes }: Rules): string | undefined {
  if (!SHORT_CODE_PATTERN.test(shortCode)) {
    return 'code must be 3 to 20 characters of a-z, A-Z, 0-9, _ and -';
  }
  return reservedCodes.has(shortCode) ? 'code is a path of the site itself' : undefined;
}

// As platform/passwords.ts writes them. The bounds keep a file from making an unlock cost minutes and gigabytes.
const ARGON2ID =
  /^\$argon2id\$v=19\$(?:(?:m=\d{1,6}|t=\d{1,2}|p=\d{1,2})(?:,(?=\w)|(?=\$))){3}\$[\w+/-]{8,128}\$[\w+/-]{16,128}$/;

/** What a column says that is neither empty nor a way to say no. */
function isSo(value: string | undefined): boolean {
  return value !== undefined && !/^(?:false|f|no|n|0|null)$/i.test(value);
}

/** Whoever may not open a link there must not be able to open it here. */
function refuseAccess(row: BulkRow, { now }: Rules): string | undefined {
  const { hasPassword, password, banned, passwordHash, deleteTokenHash, validSince, maxVisits } = row;
  if (passwordHash !== undefined && !ARGON2ID.test(passwordHash))
    return 'passwordHash is not an Argon2id hash';
  if (isSo(banned)) return 'is banned';
  if ((isSo(hasPassword) || isSo(password)) && passwordHash === undefined) {
    return 'has a password, which the file does not hold (export it with secrets)';
  }
  if (deleteTokenHash !== undefined && !/^[\da-f]{64}$/i.test(deleteTokenHash)) {
    return 'deleteTokenHash is not a SHA-256 in hexadecimal';
  }
  if (maxVisits !== undefined) return 'has a limit of visits, which links here cannot have';
  const since = validSince === undefined ? now : momentOf(validSince);
  if (!since || since > now) return 'is not valid yet, which links here cannot be';
  return undefined;
}

const isoMoment = z.iso.datetime({ offset: true });
const FIRST_MOMENT = Date.UTC(1970, 0, 1);
const LAST_MOMENT = Date.UTC(9999, 11, 31);

/** A moment in ISO 8601 with an offset or Z, or as databases write it: `2024-01-31 12:00:00` in UTC, or with `+00`. */
function momentOf(text: string): Date | undefined {
  const iso = text[10] === ' ' ? isoOf(text) : text;
  if (!isoMoment.safeParse(iso).success) return undefined;
  const moment = Date.parse(iso);
  return moment >= FIRST_MOMENT && moment <= LAST_MOMENT ? new Date(moment) : undefined;
}

function isoOf(text: string): string {
  const [, time = '', hours, minutes = '00'] =
    /^(.*?)(?:([+-]\d\d)(?::?(\d\d))?)?$/.exec(text.slice(11)) ?? [];
  return `${text.slice(0, 10)}T${time}${hours === undefined ? 'Z' : `${hours}:${minutes}`}`;
}

function notATime(name: string): string {
  return `${name} is not a time such as 2027-01-31T12:00:00Z, or 2027-01-31 12:00:00 in UTC`;
}
