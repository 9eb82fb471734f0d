// What a request can be refused for, independent of the shape a service writes it in.

export type ErrorCode =
  | 'BAD_REQUEST'
  | 'UNAUTHENTICATED'
  | 'FORBIDDEN'
  | 'NOT_FOUND'
  | 'METHOD_NOT_ALLOWED'
  | 'CONFLICT'
  | 'GONE'
  | 'PAYLOAD_TOO_LARGE'
  | 'UNSUPPORTED_MEDIA_TYPE'
  | 'RATE_LIMITED'
  | 'INTERNAL'
  | 'UNAVAILABLE';

const STATUS: Record<ErrorCode, number> = {
  BAD_REQUEST: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  NOT_FOUND: 404,
  METHOD_NOT_ALLOWED: 405,
  CONFLICT: 409,
  GONE: 410,
  PAYLOAD_TOO_LARGE: 413,
  UNSUPPORTED_MEDIA_TYPE: 415,
  RATE_LIMITED: 429,
  INTERNAL: 500,
  UNAVAILABLE: 503,
};

/** Field name → what is wrong with it. */
export type FieldMessages = Record<string, string[]>;

export interface HttpErrorOptions {
  /** Only for BAD_REQUEST. */
  details?: FieldMessages;
  headers?: Record<string, string>;
  /** Further members of the body that the specification asks for, such as `passwordRequired`. */
  members?: Record<string, unknown>;
  /** A code of the service's own, where its error shape carries codes: `INVALID_TOTP`. */
  serviceCode?: string;
}

/** A refusal with a reason fit for the client. */
export class HttpError extends Error {
  override readonly name = 'HttpError';
  readonly code: ErrorCode;
  readonly statusCode: number;
  readonly details: FieldMessages | undefined;
  readonly headers: Record<string, string>;
  readonly members: Record<string, unknown>;
  readonly serviceCode: string;

  constructor(
    code: ErrorCode,
    message: string,
    { details, headers = {}, members = {}, serviceCode }: HttpErrorOptions = {},
  ) {
    super(message);
    this.code = code;
    this.statusCode = STATUS[code];
    this.details = details;
    this.headers = headers;
    this.members = members;
    this.serviceCode = serviceCode ?? code;
  }
}

/** 400 with messages for fields. */
export function badRequest(details: FieldMessages, message = 'The request is not valid.'): HttpError {
  return new HttpError('BAD_REQUEST', message, { details });
}
