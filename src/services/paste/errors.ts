// Why a paste cannot be given, made or removed. Doors translate these; services know no status codes.

export type PasteErrorCode =
  | 'PASTE_NOT_FOUND'
  | 'PASSWORD_REQUIRED'
  | 'WRONG_PASSWORD'
  | 'ID_TAKEN'
  | 'ID_RESERVED';

const MESSAGES: Record<PasteErrorCode, string> = {
  PASTE_NOT_FOUND: 'This paste does not exist, has expired, or was burned after reading.',
  PASSWORD_REQUIRED: 'This paste is protected by a password.',
  WRONG_PASSWORD: 'The password is wrong.',
  ID_TAKEN: 'This custom id is already taken.',
  ID_RESERVED: 'This custom id is reserved.',
};

export class PasteError extends Error {
  override readonly name = 'PasteError';
  readonly code: PasteErrorCode;

  constructor(code: PasteErrorCode) {
    super(MESSAGES[code]);
    this.code = code;
  }
}
