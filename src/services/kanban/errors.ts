// Why a kanban operation is refused. Doors translate these; services know no status codes.

export type KanbanErrorCode =
  | 'NOT_FOUND'
  | 'FORBIDDEN'
  | 'CONFLICT'
  | 'BAD_REQUEST'
  | 'PAYLOAD_TOO_LARGE'
  | 'INVALID_CREDENTIALS'
  | 'TOTP_REQUIRED'
  | 'INVALID_TOTP'
  | 'RATE_LIMITED';

export interface KanbanErrorOptions {
  /** Field → what is wrong with it; of BAD_REQUEST. */
  fields?: Record<string, string[]>;
  /** What the client needs to go on; of TOTP_REQUIRED. */
  details?: Record<string, unknown>;
  /** Of RATE_LIMITED. */
  retryAfterSeconds?: number;
}

export class KanbanError extends Error {
  override readonly name = 'KanbanError';
  readonly code: KanbanErrorCode;
  readonly options: KanbanErrorOptions;

  constructor(code: KanbanErrorCode, message: string, options: KanbanErrorOptions = {}) {
    super(message);
    this.code = code;
    this.options = options;
  }
}

/** What is not there, and what is none of the asker's business, are one answer. */
export function notFound(): KanbanError {
  return new KanbanError('NOT_FOUND', 'There is no such thing.');
}

/** A field of the request names something that cannot be meant. */
export function invalidField(field: string, problem: string): KanbanError {
  return new KanbanError('BAD_REQUEST', 'The request is not valid.', { fields: { [field]: [problem] } });
}
