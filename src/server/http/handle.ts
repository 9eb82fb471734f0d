// What happens to one request of one route, in the order of refusals that the contract sets (section 2):
// 413, 401, 403, 429, 400, then whatever the handler finds.
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { RateLimiter, Reservation } from '../../platform/rate-limiter.ts';
import type { Decoded } from './decode.ts';
import { badRequest, type FieldMessages, HttpError } from './errors.ts';
import { toHttpError } from './failures.ts';
import { decodeFormBody, decodeJsonBody, encodeLargeJson, isLargeReply } from './json-work.ts';
import type { RequestContext, Route, RouteReply } from './route.ts';
import { serializerOf } from './serializer.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks, once the route's guard has let them in. */
    asker: Asker | undefined;
  }
}

export interface Asker {
  context: RequestContext;
  /** What the route's guard answered. */
  principal: unknown;
}

/**
 * Lets a request in, or not, before its body is read: nobody whom the guard refuses makes us hold one. 413 comes before
 * that as far as the length was announced; else while the body is read.
 *
 * @throws {HttpError} PAYLOAD_TOO_LARGE, and what the guard throws
 */
export async function admit(
  { guard, method }: Route,
  { headers, routeOptions }: FastifyRequest,
  context: RequestContext,
): Promise<Asker> {
  const most = routeOptions.bodyLimit ?? Number.POSITIVE_INFINITY;
  // Nobody reads what comes with a GET.
  if (method !== 'GET' && Number(headers['content-length'] ?? 0) > most) {
    // The client may be about to send all of it.
    throw new HttpError('PAYLOAD_TOO_LARGE', 'The body is too large.', { headers: { connection: 'close' } });
  }
  return { context, principal: await guard?.(context) };
}

/** Runs a route and sends its reply. */
export async function handleRoute(
  route: Route,
  request: FastifyRequest,
  reply: FastifyReply,
  makeContext: () => RequestContext,
  limiter: RateLimiter,
): Promise<FastifyReply> {
  const asker: Asker = request.asker ?? { context: makeContext(), principal: undefined };
  const decoded = route.body ? await decodeBody(request, route.body) : undefined;
  if (decoded && 'value' in decoded) route.refuseTooLarge?.(decoded.value);

  const reservation = await reserve(route, request, asker, limiter);
  let status = 500;
  try {
    const answer = await run(route, request, decoded, asker);
    status = answer.status;
    await settle(reservation, route, status, reply);
    return await send(route, answer, reply);
  } catch (error) {
    if (reply.sent || status !== 500) throw error;
    await settle(reservation, route, toHttpError(error).statusCode, reply);
    throw error;
  }
}

async function decodeBody(request: FastifyRequest, schema: z.ZodType): Promise<Decoded> {
  const bytes = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  if (bytes.byteLength === 0 && schema.safeParse(undefined).success) return { value: undefined };
  const isForm = request.headers['content-type']
    ?.toLowerCase()
    .startsWith('application/x-www-form-urlencoded');
  return isForm
    ? decodeFormBody(bytes)
    : decodeJsonBody(bytes, schema instanceof z.ZodObject ? Object.keys(schema.shape) : []);
}

async function reserve(
  { limit }: Route,
  request: FastifyRequest,
  { context, principal }: Asker,
  limiter: RateLimiter,
): Promise<Reservation | undefined> {
  if (!limit || limit.concerns?.(context.headers) === false) return undefined;
  const params = request.params as Record<string, unknown>;
  const subject = limit.subject?.(context.addressHash, params, principal) ?? context.addressHash;
  const reservation = await limiter.reserve(limit.rule, subject);
  if (reservation.granted) return reservation;
  throw rateLimited(reservation);
}

/** The 429 for a window without a free slot. */
export function rateLimited(reservation: Reservation): HttpError {
  const seconds = reservation.retryAfterSeconds;
  return new HttpError('RATE_LIMITED', `Too many requests; try again in ${seconds} seconds.`, {
    headers: { 'retry-after': String(seconds), ...limitHeaders(reservation, reservation.remaining) },
  });
}

function limitHeaders({ limit, resetAt }: Reservation, remaining: number): Record<string, string> {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    'x-ratelimit-reset': String(Math.ceil(resetAt / 1000)),
  };
}

async function settle(
  reservation: Reservation | undefined,
  route: Route,
  status: number,
  reply: FastifyReply,
): Promise<void> {
  if (!reservation || !route.limit || reservation.limit === 0) return;
  const keeps = route.limit.counts(status);
  if (!keeps) await reservation.release();
  reply.headers(limitHeaders(reservation, reservation.remaining + (keeps ? 0 : 1)));
}

async function run(
  route: Route,
  request: FastifyRequest,
  decoded: Decoded | undefined,
  { context, principal }: Asker,
): Promise<RouteReply> {
  const params = route.params?.safeParse(request.params);
  const query = route.query?.safeParse(request.query);
  const problems: FieldMessages = {};
  collect(problems, query?.error);
  let body: unknown;
  if (decoded && 'problem' in decoded) problems[decoded.field] = [decoded.problem];
  else if (decoded && route.body) {
    const parsed = route.body.safeParse(decoded.value);
    collect(problems, parsed.error);
    body = parsed.data;
  }
  if (Object.keys(problems).length > 0) throw badRequest(problems);
  if (params && !params.success) throw new HttpError('NOT_FOUND', 'There is nothing at this address.');
  return route.handler({
    params: params?.data ?? {},
    query: (query?.data as Record<string, unknown> | undefined) ?? {},
    body,
    principal,
    context,
  });
}

function collect(problems: FieldMessages, error: z.ZodError | undefined): void {
  for (const issue of error?.issues ?? []) {
    const field = issue.path.length === 0 ? 'body' : issue.path.join('.');
    problems[field] = [...(problems[field] ?? []), issue.message];
  }
}

async function send(
  route: Route,
  { status, body, headers, takeOver }: RouteReply,
  reply: FastifyReply,
): Promise<FastifyReply> {
  reply.code(status);
  // Replies may hold content of users; what may be kept says so itself.
  reply.header('cache-control', 'no-store');
  if (headers) reply.headers(headers);
  if (takeOver) {
    reply.hijack();
    // Who has left already would never be seen to leave.
    if (reply.raw.destroyed) return reply;
    reply.raw.writeHead(status, reply.getHeaders() as Record<string, string>);
    takeOver(reply.raw);
    return reply;
  }
  if (body === undefined) return reply.send();
  const description = route.replies[status];
  const type = headers?.['content-type'] ?? description?.contentType ?? 'application/json; charset=utf-8';
  if (typeof body === 'string' || body instanceof Uint8Array) return reply.type(type).send(body);
  if (Symbol.asyncIterator in body)
    return reply.type(type).send(Readable.from(body as AsyncIterable<string>));
  if (isParts(body)) {
    reply.header(
      'content-length',
      body.reduce((sum, part) => sum + part.byteLength, 0),
    );
    // Joining large parts would copy them; the socket takes them one after the other.
    return reply.type(type).send(Readable.from(body));
  }
  if (!description?.schema)
    throw new Error(`${route.operationId} answered ${status}, which its definition does not describe`);
  reply.type(type);
  if (isLargeReply(body)) return reply.send(await encodeLargeJson(body));
  return reply.serializer(serializerOf(description.schema)).send(body);
}

function isParts(body: object): body is Uint8Array[] {
  return Array.isArray(body) && body.every((part) => part instanceof Uint8Array);
}
