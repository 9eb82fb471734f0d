// Creating a link: what it will be, its code, and the token that deletes it.
import { randomReadableId } from '../../platform/ids.ts';
import { hashPassword } from '../../platform/passwords.ts';
import { createToken, hashToken } from '../../platform/tokens.ts';
import { LinkError } from './errors.ts';
import type { LinkService } from './link-service.ts';
import { RESERVED_CODES } from './reserved-codes.ts';

export interface NewLink {
  /** A destination that `refuseDestination` has nothing against. */
  url: string;
  customCode?: string | null | undefined;
  password?: string | null | undefined;
  expiresAt?: Date | null | undefined;
}

export interface CreatedLink {
  shortCode: string;
  originalUrl: string;
  /** Given out once; only its hash is kept. */
  deleteToken: string;
  expiresAt: Date | null;
  hasPassword: boolean;
}

/** Form of a short code, custom or generated. */
export const SHORT_CODE_PATTERN = /^[a-zA-Z0-9_-]{3,20}$/;

const GENERATED_CODE_LENGTH = 7;

/**
 * Creates a link.
 *
 * @throws {LinkError} CODE_RESERVED, CODE_TAKEN (by a link that is there, expired ones among them)
 */
export async function createLink(service: LinkService, input: NewLink): Promise<CreatedLink> {
  const { platform } = service;
  const { url, customCode, password, expiresAt = null } = input;
  if (customCode != null && RESERVED_CODES.has(customCode)) throw new LinkError('CODE_RESERVED');
  const deleteToken = createToken('dk_');
  const link = {
    originalUrl: url,
    createdAt: new Date(platform.clock.now()),
    expiresAt,
    passwordHash: password == null ? null : await hashPassword(password),
    deleteTokenHash: hashToken(deleteToken),
  };
  let shortCode = customCode ?? generateCode();
  while (!(await service.inserts.add({ ...link, shortCode }))) {
    if (customCode != null) throw new LinkError('CODE_TAKEN');
    shortCode = generateCode();
  }
  return { shortCode, originalUrl: url, deleteToken, expiresAt, hasPassword: link.passwordHash !== null };
}

/** A random code that is no path of the site. */
export function generateCode(): string {
  let shortCode = randomReadableId(GENERATED_CODE_LENGTH);
  while (RESERVED_CODES.has(shortCode)) shortCode = randomReadableId(GENERATED_CODE_LENGTH);
  return shortCode;
}
