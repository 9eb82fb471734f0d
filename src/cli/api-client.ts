// Talks to a server's API with node:http: loading fetch would cost more than the whole round trip.
import { request as httpRequest, type IncomingHttpHeaders } from 'node:http';
import { Failure, messageOf } from '../platform/errors.ts';
import { EXIT } from '../platform/exit-codes.ts';

export interface ApiRequest {
  method: 'GET' | 'POST' | 'DELETE';
  /** Path below the origin. */
  path: string;
  json?: unknown;
  headers?: Record<string, string>;
}

export interface ApiReply {
  status: number;
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** What a service calls itself, and what helps when it refuses. */
export interface ServiceHints {
  /** `paste`. */
  service: string;
  /** Variable that names its server: `PASTE_URL`. */
  variable: string;
  byStatus: Partial<Record<number, string>>;
}

const TIMEOUT_MS = 60_000;

/**
 * Sends a request and reads the whole reply. Redirects are not followed.
 *
 * @throws {Failure} SERVER_UNREACHABLE (exit 69)
 */
export async function callApi(
  origin: string,
  { method, path, json, headers = {} }: ApiRequest,
  hints: ServiceHints,
): Promise<ApiReply> {
  const url = new URL(path, origin);
  const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json));
  const request = url.protocol === 'https:' ? (await import('node:https')).request : httpRequest;
  return new Promise((resolve, reject) => {
    const fail = (error: unknown) => reject(unreachable(origin, error, hints));
    const sent = request(
      url,
      {
        method,
        timeout: TIMEOUT_MS,
        agent: false,
        headers: {
          ...headers,
          ...(body && { 'content-type': 'application/json', 'content-length': body.byteLength }),
        },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', fail);
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
      },
    );
    sent.on('timeout', () => sent.destroy(new Error(`no answer within ${TIMEOUT_MS / 1000} s`)));
    sent.on('error', fail);
    sent.end(body);
  });
}

/**
 * The JSON of a successful reply.
 *
 * @throws {Failure} REFUSED (exit 1) with what the server said, field by field where it says so
 */
export function successfulJson(
  origin: string,
  reply: ApiReply,
  hints: ServiceHints,
): Record<string, unknown> {
  if (reply.status < 200 || reply.status > 299) throw refusal(origin, reply, hints);
  const body = parseObject(reply.body);
  if (!body) throw notOurs(origin, reply, hints);
  return body;
}

/** What a refusing reply says, as a failure. */
export function refusal(origin: string, reply: ApiReply, hints: ServiceHints): Failure {
  const body = parseObject(reply.body);
  if (typeof body?.error !== 'string') return notOurs(origin, reply, hints);
  const details = Object.entries(body.details ?? {}).map(
    ([field, messages]) => `${field} ${[messages].flat().join(', ')}`,
  );
  const retryAfter = reply.headers['retry-after'];
  return new Failure({
    code: 'REFUSED',
    message: [body.error.replace(/\.$/, ''), ...details].join('; '),
    hint: hints.byStatus[reply.status] ?? hintFor(reply.status, retryAfter),
    exit: EXIT.failed,
  });
}

function hintFor(status: number, retryAfter: string | undefined): string {
  switch (status) {
    case 429:
      return `wait ${retryAfter ?? 'a few'} seconds and try again`;
    case 503:
      return 'the server cannot work at the moment; try again soon';
    default:
      return 'change the request as it says';
  }
}

function unreachable(origin: string, error: unknown, { variable }: ServiceHints): Failure {
  return new Failure({
    code: 'SERVER_UNREACHABLE',
    message: `no server answers at ${origin}: ${messageOf(error)}`,
    hint: `start one with \`svc serve\`, or name another with --server or ${variable}`,
    exit: EXIT.serverUnreachable,
    cause: error,
  });
}

function notOurs(origin: string, { status }: ApiReply, { service, variable }: ServiceHints): Failure {
  return new Failure({
    code: 'NOT_OUR_SERVER',
    message: `${origin} does not answer like the ${service} service (HTTP status ${status})`,
    hint: `name its origin with --server or ${variable}; redirects are not followed`,
    exit: EXIT.serverUnreachable,
  });
}

function parseObject(body: Buffer): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(body.toString());
    return typeof value === 'object' && value !== null ? { ...value } : undefined;
  } catch {
    return undefined;
  }
}
