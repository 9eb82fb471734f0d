// Building blocks of kanban requests and replies.
import { z } from 'zod';
import { ID_PATTERN } from '../../platform/ids.ts';
import { timestamp } from '../http/fields.ts';

const required = (what: string) => (issue: { input?: unknown }) =>
  issue.input === undefined ? 'is required' : `must be ${what}`;

/** Largest encrypted field, and largest encrypted description of a board or card, in characters (all of one byte). */
export const FIELD_LIMIT = 65_536;
export const LONG_FIELD_LIMIT = 1_048_576;

/** Largest bodies that hold such fields. */
export const BODY_LIMIT = 262_144;
export const LONG_BODY_LIMIT = 2_097_152;

const ENCRYPTED = /^v1\.[A-Za-z0-9_-]+\.[A-Za-z0-9_-]+$/;

/** An encrypted field: the server knows its form, not its cipher (contract, section 5). */
export function encrypted(most = FIELD_LIMIT) {
  return z
    .string({ error: required('a text') })
    .max(most, `must have at most ${most} characters`)
    .regex(ENCRYPTED, 'must be of the form v1.<nonce>.<ciphertext>, in base64url')
    .meta({ examples: ['v1.bm9uY2U.Y2lwaGVydGV4dA'] });
}

/** An identifier in a body: a malformed one is refused. */
export const id = z
  .string({ error: required('an identifier') })
  .regex(ID_PATTERN, 'must be an identifier')
  .meta({ examples: ['c0mj8k2v5a1b2c3d4e5f6g7h8'] });

/** The identifier in a path. */
export const idParam = z.object({ id });

/** A moment that a client sends: ISO 8601 with an offset, in the years that PostgreSQL and JavaScript agree on. */
export const moment = z.iso
  .datetime({ offset: true, error: 'must be a time such as 2027-01-31T12:00:00Z, with Z or an offset' })
  .transform((value) => new Date(value))
  .refine(
    (date) => date.getUTCFullYear() > 0 && date.getUTCFullYear() < 10_000,
    'must be a time of this era',
  );

export const flag = z.boolean({ error: required('true or false') });

export const body = <Shape extends z.ZodRawShape>(shape: Shape) =>
  z.object(shape, { error: 'must be a JSON object' });

/** One of the values of a list, with an error that names them. */
export function oneOf<const Values extends readonly [string, ...string[]]>(values: Values) {
  return z.enum(values, { error: `must be one of ${values.join(', ')}` });
}

const LIMIT_DEFAULT = 100;
const LIMIT_MOST = 1000;
const CURSOR_LENGTH = 1024;

function pageLimit(fallback: number, most: number) {
  return z
    .string()
    .regex(/^\d{1,6}$/, `must be a whole number from 1 to ${most}`)
    .transform(Number)
    .refine((value) => value >= 1 && value <= most, `must be a whole number from 1 to ${most}`)
    .default(fallback)
    .meta({
      description: `How many at most; ${fallback} unless told otherwise, at most ${most}. A page of large things has fewer, and a \`nextCursor\`.`,
    });
}

/** Query of a list. */
export function pageQuery(fallback = LIMIT_DEFAULT, most = LIMIT_MOST) {
  return z.object({
    limit: pageLimit(fallback, most),
    cursor: z
      .string()
      .max(CURSOR_LENGTH, 'is too long')
      .optional()
      .meta({ description: '`nextCursor` of the page before.' }),
  });
}

/** Query of a list that leaves archived things out unless told otherwise. */
export function archivedQuery(fallback?: number, most?: number) {
  return pageQuery(fallback, most).extend({
    archived: z
      .enum(['0', '1'], { error: 'must be 0 or 1' })
      .default('0')
      .meta({ description: '1: archived ones too.' }),
  });
}

/** Reply of a list. */
export function pageReply(item: z.ZodType) {
  return z.object({ items: z.array(item), nextCursor: z.string().nullable() });
}

export const created = { createdAt: timestamp };
export const changeable = { createdAt: timestamp, updatedAt: timestamp };

/** What a reply schema declares of a row, and nothing else. */
export function only(schema: z.ZodObject, row: object): object {
  const source = row as Record<string, unknown>;
  return Object.fromEntries(Object.keys(schema.shape).map((name) => [name, source[name] ?? null]));
}
