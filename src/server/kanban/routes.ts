// How routes of the kanban service are defined: who may call them, which window they count in, how refusals of the
// service become HTTP's.
import type { z } from 'zod';
import type { RateLimit } from '../../platform/rate-limiter.ts';
import type { Principal } from '../../services/kanban/accounts/session-cache.ts';
import { KanbanError } from '../../services/kanban/errors.ts';
import type { KanbanService } from '../../services/kanban/kanban-service.ts';
import { HttpError } from '../http/errors.ts';
import { defineRoute, type Route, type RouteDefinition, type RouteLimit } from '../http/route.ts';
import { BODY_LIMIT } from './fields.ts';
import { requireOrigin, requireSession } from './guards.ts';

/**
 * Windows of a signed-in user: reads; changes of boards, columns and cards; every other write (contract, section 5).
 */
export type UserWindow = 'reads' | 'mutations' | 'writes';

type Definition<Params extends z.ZodObject, Query extends z.ZodObject, Body extends z.ZodType, Who> = Omit<
  RouteDefinition<Params, Query, Body, Who>,
  'guard' | 'security'
>;

const MINUTE_MS = 60_000;

/** Defines a route for who is signed in. */
export function signedIn<
  Params extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType = z.ZodUndefined,
>(service: KanbanService, window: UserWindow, definition: Definition<Params, Query, Body, Principal>): Route {
  return defineRoute<Params, Query, Body, Principal>({
    bodyLimitBytes: BODY_LIMIT,
    limit: userLimit(service, window),
    ...definition,
    guard: requireSession(service),
    security: 'session',
    errors: [...(definition.errors ?? []), ...(definition.params ? (['NOT_FOUND'] as const) : [])],
    handler: (input) => translatingErrors(() => definition.handler(input)),
  });
}

/** Defines a route for everybody. */
export function open<
  Params extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType = z.ZodUndefined,
>(service: KanbanService, definition: Definition<Params, Query, Body, undefined>): Route {
  return defineRoute<Params, Query, Body, undefined>({
    bodyLimitBytes: BODY_LIMIT,
    ...definition,
    guard: requireOrigin(service),
    handler: (input) => translatingErrors(() => definition.handler(input)),
  });
}

/** A window of attempts by address: each request counts. */
export function attemptsLimit(rule: RateLimit): RouteLimit<Record<string, unknown>> {
  return { rule, counts: () => true };
}

function userLimit(
  { platform }: KanbanService,
  window: UserWindow,
): RouteLimit<Record<string, unknown>, Principal> {
  const { kanban } = platform.config;
  const limits: Record<UserWindow, number> = {
    reads: kanban.readsPerMinute,
    mutations: kanban.mutationsPerMinute,
    writes: kanban.writesPerMinute,
  };
  return {
    rule: { name: `kanban-${window}`, limit: limits[window], windowMs: MINUTE_MS },
    subject: (_addressHash, _params, { accountId }) => accountId,
    counts: () => true,
  };
}

/** Runs service work and turns its refusals into HTTP's. */
async function translatingErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof KanbanError ? toHttp(error) : error;
  }
}

function toHttp({ code, message, options }: KanbanError): HttpError {
  const { fields, details, retryAfterSeconds } = options;
  switch (code) {
    case 'INVALID_CREDENTIALS':
    case 'TOTP_REQUIRED':
    case 'INVALID_TOTP':
      return new HttpError('UNAUTHENTICATED', message, {
        serviceCode: code,
        ...(details && { members: { details } }),
      });
    case 'RATE_LIMITED':
      return new HttpError(code, message, { headers: { 'retry-after': String(retryAfterSeconds ?? 1) } });
    case 'BAD_REQUEST':
      return new HttpError(code, message, { ...(fields && { details: fields }) });
    default:
      return new HttpError(code, message);
  }
}
