// The one way to define a route: its zod schemas validate the request, type the handler, and make the OpenAPI
// document and the compiled reply serializer (house rule 3).
import type { ServerResponse } from 'node:http';
import type { FastifyBaseLogger } from 'fastify';
import type { z } from 'zod';
import type { RateLimit } from '../../platform/rate-limiter.ts';
import type { ErrorCode } from './errors.ts';

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** Media types a route may take a body in. */
export type BodyType = 'application/json' | 'application/x-www-form-urlencoded';

export interface RequestContext {
  method: string;
  /** Keyed hash of the client's address; the address itself goes no further. */
  addressHash: string;
  /** HEAD answers the headers of GET and must have no effect. */
  isHead: boolean;
  /** Lower-case names. */
  headers: Record<string, string | string[] | undefined>;
  log: FastifyBaseLogger;
}

export interface RouteReply {
  status: number;
  /** An object goes through the reply schema of its status; text, bytes and parts of either go as they are. */
  body?: object | string | Uint8Array | Uint8Array[] | AsyncGenerator<string>;
  headers?: Record<string, string>;
  /** Writes the body itself, for as long as it takes; status and headers are set. */
  takeOver?: (response: ServerResponse) => void;
}

export interface ReplyDescription {
  description: string;
  /** JSON body; left out for replies without one. */
  schema?: z.ZodType;
  /** For bodies that are not JSON. */
  contentType?: string;
  /** Further types that the request may ask for; the handler then names the one it answers. */
  otherContentTypes?: string[];
}

export interface RouteLimit<Params, Principal = unknown> {
  rule: RateLimit;
  /** Whose window; the hashed address unless told otherwise. */
  subject?: (addressHash: string, params: Params, principal: Principal) => string;
  /** Which requests the window concerns; all unless told otherwise. */
  concerns?: (headers: RequestContext['headers']) => boolean;
  /** Whether a request that ended with this status keeps its slot. */
  counts: (status: number) => boolean;
}

export interface RouteDefinition<
  Params extends z.ZodObject = z.ZodObject,
  Query extends z.ZodObject = z.ZodObject,
  Body extends z.ZodType = z.ZodType,
  Principal = unknown,
> {
  method: Method;
  /** In the form of the OpenAPI document: `/pastes/{id}`. */
  path: string;
  /** `createPaste`; names the operation in the document and in clients made from it. */
  operationId: string;
  summary: string;
  description?: string;
  /** A malformed parameter is a thing that does not exist: 404. */
  params?: Params;
  query?: Query;
  /** Request headers worth documenting, with their descriptions. */
  requestHeaders?: Record<string, string>;
  body?: Body;
  /** Media types of the body; JSON unless told otherwise. */
  bodyTypes?: BodyType[];
  /** Largest body as sent, in bytes; 64 KiB unless told otherwise. */
  bodyLimitBytes?: number;
  /** Sees the decoded body before limits and validation; throws what counts as too large (order of refusals). */
  refuseTooLarge?: (body: unknown) => void;
  replies: Record<number, ReplyDescription>;
  /** Errors this operation answers, beyond those every route can. */
  errors?: ErrorCode[];
  /** Further members of the body of such an error, as `HttpErrorOptions.members` has them. */
  errorMembers?: Partial<Record<ErrorCode, z.ZodRawShape>>;
  /** Who asks; throws what refuses them: 401, 403 (order of refusals). */
  guard?: (context: RequestContext) => Promise<Principal>;
  /** Name of the OpenAPI security scheme that the guard stands for. */
  security?: string;
  limit?: RouteLimit<z.output<Params>, Principal>;
  handler: (input: {
    params: z.output<Params>;
    query: z.output<Query>;
    body: z.output<Body>;
    /** What the guard answered. */
    principal: Principal;
    context: RequestContext;
  }) => Promise<RouteReply>;
}

/** A route of any shape, as lists of routes hold it. */
export type Route = Omit<RouteDefinition, 'handler' | 'limit' | 'guard'> & {
  guard?: (context: RequestContext) => Promise<unknown>;
  limit?: RouteLimit<Record<string, unknown>>;
  handler: (input: {
    params: Record<string, unknown>;
    query: Record<string, unknown>;
    body: unknown;
    principal: unknown;
    context: RequestContext;
  }) => Promise<RouteReply>;
};

/**
 * Defines a route.
 *
 * ```ts
 * defineRoute({
 *   method: 'GET', path: '/pastes/{id}', operationId: 'readPaste', summary: 'Read a paste',
 *   params: z.object({ id: pasteId }),
 *   replies: { 200: { description: 'The paste', schema: pasteSchema } },
 *   handler: async ({ params }) => ({ status: 200, body: await readPaste(service, params.id) }),
 * });
 * ```
 */
export function defineRoute<
  Params extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Query extends z.ZodObject = z.ZodObject<Record<never, never>>,
  Body extends z.ZodType = z.ZodUndefined,
  Principal = undefined,
>(definition: RouteDefinition<Params, Query, Body, Principal>): Route {
  // The app calls the handler only with what the route's own schemas parsed, so the wider type is safe.
  return definition as unknown as Route;
}
