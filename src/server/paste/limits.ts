// The two rate limits of the paste service, and its size limit, as routes use them.
import type { Platform } from '../../platform/platform.ts';
import { MAX_CONTENT_BYTES } from '../../services/paste/create-paste.ts';
import { UNLOCK_LIMIT } from '../../services/paste/unlock-paste.ts';
import { HttpError } from '../http/errors.ts';
import type { RouteLimit } from '../http/route.ts';

/** JSON may write each byte of content as six characters; the other fields need little. */
export const CREATE_BODY_LIMIT_BYTES = 6 * MAX_CONTENT_BYTES + 65_536;

/** Creations per address: only a created paste uses a slot. */
export function creationLimit(
  { config }: Platform,
  createdStatus: number,
): RouteLimit<Record<string, unknown>> {
  return {
    rule: { name: 'paste-create', limit: config.paste.createPerHour, windowMs: 3_600_000 },
    counts: (status) => status === createdStatus,
  };
}

/** Wrong passwords per address and paste: only a failure uses a slot. */
export const unlockLimit: RouteLimit<Record<string, unknown>> = {
  rule: UNLOCK_LIMIT,
  subject: (addressHash, params) => `${addressHash}:${String(params.id)}`,
  counts: (status) => status === 401,
};

/** @throws {HttpError} 413, when the content is larger than a paste may be, however it was escaped */
export function refuseLargeContent(body: unknown): void {
  if (typeof body !== 'object' || body === null || !('content' in body)) return;
  const { content } = body;
  if (typeof content !== 'string' || Buffer.byteLength(content) <= MAX_CONTENT_BYTES) return;
  throw new HttpError('PAYLOAD_TOO_LARGE', 'The content is larger than 1 MB (1,048,576 bytes of UTF-8).');
}
