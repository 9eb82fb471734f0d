// Turns whatever went wrong into a refusal fit for a client: never a stack, never a framework's own shape.
import type { Socket } from 'node:net';
import { isConflict } from '../../platform/database/in-transaction.ts';
import { isDatabaseUnavailable } from '../../platform/database/unavailable.ts';
import { isEphemeralUnavailable } from '../../platform/ephemeral/unavailable.ts';
import { codeOf } from '../../platform/errors.ts';
import { Overloaded } from '../../platform/overloaded.ts';
import type { ErrorShape } from './error-shapes.ts';
import { type ErrorCode, HttpError } from './errors.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

const RETRY_SOON = { 'retry-after': '2' };

/** The refusal that an error of any origin becomes; what nobody foresaw is a 500 that tells nothing. */
export function toHttpError(error: unknown): HttpError {
  if (error instanceof HttpError) return error;
  switch (codeOf(error)) {
    case 'FST_ERR_CTP_BODY_TOO_LARGE':
      return new HttpError('PAYLOAD_TOO_LARGE', 'The body is too large.');
    case 'FST_ERR_CTP_INVALID_CONTENT_LENGTH':
      return new HttpError('BAD_REQUEST', 'The body is not as long as Content-Length says.', {
        details: { body: ['is not as long as Content-Length says'] },
      });
    case 'FST_ERR_CTP_INVALID_MEDIA_TYPE':
      return new HttpError('UNSUPPORTED_MEDIA_TYPE', 'The body has a media type that is not understood.');
    // A path that does not decode names nothing (contract, section 2: a malformed id in a path is 404).
    case 'FST_ERR_BAD_URL':
    case 'FST_ERR_MAX_PARAM_LENGTH':
      return new HttpError('NOT_FOUND', 'There is nothing at this address.');
    case 'FST_ERR_REOPENED_CLOSE_SERVER':
      return unavailable('The server is stopping.');
  }
  if (isDatabaseUnavailable(error)) return unavailable('The database cannot be reached at the moment.');
  if (isEphemeralUnavailable(error)) return unavailable('Redis cannot be reached at the moment.');
  if (error instanceof Overloaded || isConflict(error)) return unavailable('The server is busy.');
  return new HttpError('INTERNAL', 'Something went wrong on the server.');
}

function unavailable(message: string): HttpError {
  return new HttpError('UNAVAILABLE', message, { headers: RETRY_SOON });
}

const PROTOCOL_ERRORS: Record<string, { status: string; code: ErrorCode; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    status: '431 Request Header Fields Too Large',
    code: 'BAD_REQUEST',
    message: 'The headers of the request are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    status: '408 Request Timeout',
    code: 'BAD_REQUEST',
    message: 'The request took too long to arrive.',
  },
};

const NOT_HTTP = {
  status: '400 Bad Request',
  code: 'BAD_REQUEST',
  message: 'This is not a valid HTTP request.',
} as const;

/** Answers what Node's parser could not read, and closes the connection. */
export function answerBrokenConnection(error: Error, socket: Socket, errors: ErrorShape): void {
  if (codeOf(error) === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  const { status, code, message } = PROTOCOL_ERRORS[codeOf(error) ?? ''] ?? NOT_HTTP;
  const body = JSON.stringify(errors.write(new HttpError(code, message)));
  const headers = Object.entries({
    ...SECURITY_HEADERS,
    'content-type': 'application/json; charset=utf-8',
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
  });
  socket.end(
    `HTTP/1.1 ${status}\r\n${headers.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  );
}
