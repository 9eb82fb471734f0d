// Creating a paste: what it will be, its id, and the token that deletes it.
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
  while (!(await service.inserts.add({ ...paste, pasteId, deleteTokenHash }))) {
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
