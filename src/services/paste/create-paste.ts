// Creating a paste: one statement writes the row and counts it for the statistics.
import { randomInt } from 'node:crypto';
import { sql } from 'kysely';
import { randomReadableId } from '../../platform/ids.ts';
import { hashPassword } from '../../platform/passwords.ts';
import { createToken, hashToken } from '../../platform/tokens.ts';
import { PasteError } from './errors.ts';
import type { PasteService } from './paste-service.ts';

/** 1 MB of content, in bytes of UTF-8 (contract, section 3). */
export const MAX_CONTENT_BYTES = 1_048_576;

/** How long a paste lives, in seconds. */
export const EXPIRY_SECONDS = {
  '10min': 600,
  '1h': 3_600,
  '1d': 86_400,
  '1w': 604_800,
  '1mo': 2_592_000,
  '1y': 31_536_000,
} as const;

export type ExpiresIn = keyof typeof EXPIRY_SECONDS;

export interface NewPaste {
  content: string;
  title?: string | null | undefined;
  /** Id of a supported language. */
  language: string;
  expiresIn: ExpiresIn;
  password?: string | null | undefined;
  burnAfterRead: boolean;
  customId?: string | null | undefined;
}

export interface CreatedPaste {
  pasteId: string;
  /** Given out once; only its hash is kept. */
  deleteToken: string;
  expiresAt: Date;
  hasPassword: boolean;
  burnAfterRead: boolean;
}

const GENERATED_ID_LENGTH = 10;
// Creations that race add to different rows of the same count; more shards than that many seldom race.
const COUNT_SHARDS = 32;

/**
 * Creates a paste.
 *
 * @throws {PasteError} ID_RESERVED, ID_TAKEN (by a paste that has not expired)
 */
export async function createPaste(service: PasteService, input: NewPaste): Promise<CreatedPaste> {
  const { platform, reservedIds } = service;
  const { customId } = input;
  if (customId != null && reservedIds.has(customId)) throw new PasteError('ID_RESERVED');
  const createdAt = new Date(platform.clock.now());
  const paste = {
    title: input.title ?? null,
    content: input.content,
    language: input.language,
    createdAt,
    expiresAt: new Date(createdAt.getTime() + EXPIRY_SECONDS[input.expiresIn] * 1000),
    burnAfterRead: input.burnAfterRead,
    sizeBytes: Buffer.byteLength(input.content),
    passwordHash: input.password == null ? null : await hashPassword(input.password),
  };
  const deleteToken = createToken('dk_');
  const deleteTokenHash = hashToken(deleteToken);

  let pasteId = customId ?? randomReadableId(GENERATED_ID_LENGTH);
  while (!(await insertPaste(service, { ...paste, pasteId, deleteTokenHash }))) {
    if (customId != null) throw new PasteError('ID_TAKEN');
    pasteId = randomReadableId(GENERATED_ID_LENGTH);
  }
  return {
    pasteId,
    deleteToken,
    expiresAt: paste.expiresAt,
    hasPassword: paste.passwordHash !== null,
    burnAfterRead: paste.burnAfterRead,
  };
}

interface PasteRow {
  pasteId: string;
  title: string | null;
  content: string;
  language: string;
  createdAt: Date;
  expiresAt: Date;
  burnAfterRead: boolean;
  sizeBytes: number;
  passwordHash: string | null;
  deleteTokenHash: Buffer;
}

/** Whether the paste was written; not, when a live paste has its id. An expired one makes room. */
async function insertPaste({ platform }: PasteService, row: PasteRow): Promise<boolean> {
  const shard = randomInt(COUNT_SHARDS);
  const day = row.createdAt.toISOString().slice(0, 10);
  const { rows } = await sql`
    WITH inserted AS (
      INSERT INTO paste AS existing (paste_id, title, content, language, created_at, expires_at,
        burn_after_read, size_bytes, password_hash, delete_token_hash)
      VALUES (${row.pasteId}, ${row.title}, ${row.content}, ${row.language}, ${row.createdAt}, ${row.expiresAt},
        ${row.burnAfterRead}, ${row.sizeBytes}, ${row.passwordHash}, ${row.deleteTokenHash})
      ON CONFLICT (paste_id) DO UPDATE SET
        paste_key = DEFAULT, title = excluded.title, content = excluded.content, language = excluded.language,
        created_at = excluded.created_at, expires_at = excluded.expires_at, view_count = 0,
        burn_after_read = excluded.burn_after_read, size_bytes = excluded.size_bytes,
        password_hash = excluded.password_hash, delete_token_hash = excluded.delete_token_hash
      WHERE existing.expires_at <= ${row.createdAt}
      RETURNING 1
    ), by_language AS (
      INSERT INTO paste_language_count AS total (language, shard, count)
      SELECT ${row.language}, ${shard}, 1 FROM inserted
      ON CONFLICT (language, shard) DO UPDATE SET count = total.count + 1
    ), by_day AS (
      INSERT INTO paste_day_count AS total (day, shard, count)
      SELECT ${day}::date, ${shard}, 1 FROM inserted
      ON CONFLICT (day, shard) DO UPDATE SET count = total.count + 1
    )
    SELECT 1 FROM inserted`.execute(platform.database);
  return rows.length === 1;
}
