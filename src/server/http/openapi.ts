// The OpenAPI 3.1 document of a service, made from the schemas that validate its requests.
import { z } from 'zod';
import type { ErrorShape } from './error-shapes.ts';
import { type ErrorCode, HttpError } from './errors.ts';
import type { Method, Route } from './route.ts';

type Json = Record<string, unknown>;

export interface OpenApiDocument extends Json {
  openapi: string;
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, Operation>>;
}

export interface Operation extends Json {
  operationId: string;
  summary: string;
  description?: string;
  parameters?: Parameter[];
  requestBody?: { required: boolean; content: Record<string, { schema: Json }> };
  responses: Record<string, Response>;
  /** Where the operation is not below /api. */
  servers?: Array<{ url: string }>;
}

export interface Parameter extends Json {
  name: string;
  in: 'path' | 'query' | 'header';
  required: boolean;
  schema: Json;
}

export interface Response extends Json {
  description: string;
  content?: Record<string, { schema: Json }>;
}

export interface DocumentedService {
  title: string;
  description: string;
  version: string;
  /** Origin; `/api` is added. Asked when the document is made: a port may be known only once we listen. */
  url: () => string;
  errors: ErrorShape;
  routes: Route[];
  /** Routes of the site itself that programs use too. */
  siteRoutes?: Route[];
  /** OpenAPI security schemes that routes name. */
  securitySchemes?: Json;
}

const ERROR_DESCRIPTIONS: Record<ErrorCode, string> = {
  BAD_REQUEST: 'The request is not valid; `details` says which fields and why.',
  UNAUTHENTICATED: 'The password or credential is wrong or missing.',
  FORBIDDEN: 'Not without more: a password, or a right.',
  NOT_FOUND: 'There is no such thing, or not any more.',
  METHOD_NOT_ALLOWED: 'The path takes other methods; `Allow` names them.',
  CONFLICT: 'It is taken.',
  GONE: 'It was here, and has expired.',
  PAYLOAD_TOO_LARGE: 'The body or its content is too large.',
  UNSUPPORTED_MEDIA_TYPE: 'The body has another media type than it must.',
  RATE_LIMITED: 'Too many requests; `Retry-After` says how many seconds to wait.',
  INTERNAL: 'Something went wrong on the server.',
  UNAVAILABLE: 'The database is away or the server is busy; try again soon.',
};

const LIMIT_HEADERS: Json = {
  'X-RateLimit-Limit': { description: 'Requests the window holds.', schema: { type: 'integer' } },
  'X-RateLimit-Remaining': { description: 'Requests left now.', schema: { type: 'integer' } },
  'X-RateLimit-Reset': { description: 'When a slot frees, in Unix seconds.', schema: { type: 'integer' } },
};

/** Makes the document. */
export function openApiDocument(service: DocumentedService): OpenApiDocument {
  const paths: OpenApiDocument['paths'] = {};
  for (const route of service.routes) {
    paths[route.path] = {
      ...paths[route.path],
      [route.method.toLowerCase()]: operation(route, service.errors),
    };
  }
  for (const route of service.siteRoutes ?? []) {
    const described = { ...operation(route, service.errors), servers: [{ url: service.url() }] };
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: described };
  }
  return {
    openapi: '3.1.1',
    info: { title: service.title, version: service.version, description: service.description },
    servers: [{ url: `${service.url()}/api` }],
    paths,
    ...(service.securitySchemes && { components: { securitySchemes: service.securitySchemes } }),
  };
}

function operation(route: Route, errors: ErrorShape): Operation {
  const { operationId, summary, description, bodyTypes = ['application/json'] } = route;
  const parameters = [
    ...parametersOf('path', route.params),
    ...parametersOf('query', route.query),
    ...Object.entries(route.requestHeaders ?? {}).map(([name, about]) => headerParameter(name, about)),
  ];
  const bodySchema = route.body && toJsonSchema(route.body, 'input');
  return {
    operationId,
    summary,
    ...(description !== undefined && { description }),
    ...(route.security !== undefined && { security: [{ [route.security]: [] }] }),
    ...(parameters.length > 0 && { parameters }),
    ...(bodySchema && {
      requestBody: {
        required: true,
        content: Object.fromEntries(bodyTypes.map((type) => [type, { schema: bodySchema }])),
      },
    }),
    responses: { ...successes(route), ...failures(route, errors) },
  };
}

function parametersOf(where: 'path' | 'query', schema: z.ZodObject | undefined): Parameter[] {
  if (!schema) return [];
  const { properties = {}, required = [] } = toJsonSchema(schema, 'input') as {
    properties?: Record<string, Json>;
    required?: string[];
  };
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: where,
    required: where === 'path' || required.includes(name),
    ...(typeof description === 'string' && { description }),
    schema: rest,
  }));
}

function headerParameter(name: string, description: string): Parameter {
  return { name, in: 'header', required: false, description, schema: { type: 'string' } };
}

function successes(route: Route): Record<string, Response> {
  return Object.fromEntries(
    Object.entries(route.replies).map(([status, reply]) => [
      status,
      {
        description: reply.description,
        ...(route.limit && { headers: LIMIT_HEADERS }),
        ...(reply.schema && {
          content: { 'application/json': { schema: toJsonSchema(reply.schema, 'output') } },
        }),
        ...(reply.contentType && {
          content: Object.fromEntries(
            [reply.contentType, ...(reply.otherContentTypes ?? [])].map((type) => [
              type,
              { schema: { type: 'string' } },
            ]),
          ),
        }),
      },
    ]),
  );
}

function failures(route: Route, errors: ErrorShape): Record<string, Response> {
  const codes = new Set<ErrorCode>(route.errors);
  if (route.body || route.query) codes.add('BAD_REQUEST');
  if (route.body) codes.add('PAYLOAD_TOO_LARGE').add('UNSUPPORTED_MEDIA_TYPE');
  if (route.guard) codes.add('UNAUTHENTICATED');
  if (route.limit) codes.add('RATE_LIMITED');
  codes.add('INTERNAL').add('UNAVAILABLE');
  const answers: Record<string, Response> = {};
  for (const code of codes) {
    const { statusCode } = new HttpError(code, '');
    if (route.replies[statusCode]) continue;
    answers[statusCode] = {
      description: ERROR_DESCRIPTIONS[code],
      ...(code === 'RATE_LIMITED' && {
        headers: {
          'Retry-After': { description: 'Seconds to wait.', schema: { type: 'integer' } },
          ...LIMIT_HEADERS,
        },
      }),
      content: {
        'application/json': {
          schema: toJsonSchema(errors.schema(statusCode, route.errorMembers?.[code]), 'output'),
        },
      },
    };
  }
  return answers;
}

function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): Json {
  const { $schema: _, ...rest } = z.toJSONSchema(schema, { io, unrepresentable: 'any' }) as Json;
  return rest;
}

/** Methods of a document's path items, in the order a reader expects. */
export const METHOD_ORDER: readonly Method[] = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
