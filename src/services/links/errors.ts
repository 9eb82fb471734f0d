// Why a link cannot be given, made or removed. Doors translate these; services know no status codes.

export type LinkErrorCode = 'LINK_NOT_FOUND' | 'NOT_UNLOCKED' | 'CODE_TAKEN' | 'CODE_RESERVED';

const MESSAGES: Record<LinkErrorCode, string> = {
  LINK_NOT_FOUND: 'There is no such link.',
  // Says nothing about whether the link exists (link-api.md, POST /verify).
  NOT_UNLOCKED: 'The link and the password do not match.',
  CODE_TAKEN: 'This short code is already taken.',
  CODE_RESERVED: 'This short code is reserved.',
};

export class LinkError extends Error {
  override readonly name = 'LinkError';
  readonly code: LinkErrorCode;

  constructor(code: LinkErrorCode) {
    super(MESSAGES[code]);
    this.code = code;
  }
}
