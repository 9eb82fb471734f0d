// Makes the HTTP application of one service from its routes: what every service shares is here, once.
import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import {
  type FastifyBaseLogger,
  type FastifyInstance,
  type FastifyReply,
  type FastifyRequest,
  type FastifyServerFactory,
  fastify,
  LogController,
} from 'fastify';
import { hashAddress } from '../../platform/addresses.ts';
import type { Config } from '../../platform/config/config.ts';
import { Overloaded } from '../../platform/overloaded.ts';
import type { Platform } from '../../platform/platform.ts';
import { type BodyBudget, boundLargeBodies, LARGE_BODY_BYTES } from './body-budget.ts';
import { countHandler, countInFlight, type InFlight } from './close.ts';
import type { ErrorShape } from './error-shapes.ts';
import { badRequest, HttpError } from './errors.ts';
import { answerBrokenConnection, toHttpError } from './failures.ts';
import { admit, handleRoute } from './handle.ts';
import { useJsonWorkers } from './json-work.ts';
import type { BodyType, Method, RequestContext, Route } from './route.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Template of the route, for metrics. */
    template?: string;
    /** Media types a body may have; none: a body is ignored. */
    bodyTypes?: BodyType[];
    /** Set on the stand-ins for methods a path does not have. */
    allow?: string;
  }
}

export interface ErrorPage {
  contentType: string;
  body: string;
}

/** Answers in this turn of the event loop, or calls `next`; a promise when it does so later. */
export type Intercept = (
  request: IncomingMessage,
  response: ServerResponse,
  next: () => void,
) => void | Promise<void>;

export interface AppOptions {
  /** Names the service in logs and metrics: `paste`. */
  service: string;
  platform: Platform;
  errors: ErrorShape;
  /** Routes under /api. */
  api: Route[];
  /** Routes of the site itself, relative to its origin. */
  site?: Route[];
  /** The page a browser gets instead of the JSON of an error; undefined leaves the JSON. */
  errorPage?: (error: HttpError, request: FastifyRequest) => ErrorPage | undefined;
  /** Sees each request before the router does, and answers it or calls `next`; for paths that must cost next to nothing. */
  intercept?: Intercept;
  /** What there is room for of large bodies; that of the process, which all its applications share, unless given. */
  bodyBudget?: BodyBudget;
}

const COMMON_METHODS = new Set(['DELETE', 'GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'TRACE']);
const DEFAULT_BODY_LIMIT_BYTES = 65_536;
const REQUEST_TIMEOUT_MS = 60_000;
const KEEP_ALIVE_TIMEOUT_MS = 72_000;

/** Makes the application; nothing listens yet. */
export async function createApp(options: AppOptions): Promise<FastifyInstance> {
  const { service, platform, errors, api, site = [] } = options;
  const inFlight: InFlight = { requests: 0, handlers: 0 };
  const app: FastifyInstance = fastify({
    loggerInstance: platform.log.child({ service }) as FastifyBaseLogger,
    logController: new LogController({ disableRequestLogging: true }),
    trustProxy: trustedProxies(platform.config.trustProxy),
    genReqId: () => randomUUID(),
    requestIdHeader: false,
    bodyLimit: DEFAULT_BODY_LIMIT_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
    ...(options.intercept && { serverFactory: serverWith(options.intercept, inFlight) }),
    forceCloseConnections: 'idle',
    // What comes on a connection that is open while we stop is answered like anything else, and closes it.
    return503OnClosing: false,
    // Node would answer a request without Host by itself, in a shape of its own.
    http: { requireHostHeader: false },
    exposeHeadRoutes: true,
    clientErrorHandler: (error, socket) => answerBrokenConnection(error, socket, errors),
    frameworkErrors: (error, request, reply) => {
      // These skip the hooks, so the headers are set here again.
      reply.headers({ ...SECURITY_HEADERS, 'x-request-id': request.id });
      answerError(options, error, request, reply);
    },
  });

  // Bodies stay bytes until the order of refusals asks for them (handle.ts).
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body));
  app.decorateRequest('asker');

  countInFlight(app, inFlight);
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(SECURITY_HEADERS);
    reply.header('x-request-id', request.id);
    const { allow, bodyTypes } = request.routeOptions.config;
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined) {
      throw badRequest({ Host: ['is required (RFC 9112, section 3.2)'] });
    }
    if (request.is404) throw refuseUnrouted(request, allowed);
    if (allow !== undefined) throw notAllowed(allow);
    if (bodyTypes) requireBodyType(request, bodyTypes);
  });
  app.addHook('onResponse', async (request, reply) => {
    const { method, routeOptions, log } = request;
    const route = routeOptions.config.template ?? 'none';
    platform.metrics.httpRequests.observe(
      { service, method, route, status: reply.statusCode },
      reply.elapsedTime / 1000,
    );
    // Neither the query (delete tokens) nor the address of the client belongs in a log.
    log.debug(
      { method, path: pathOf(request), status: reply.statusCode, durationMs: reply.elapsedTime },
      'request',
    );
  });
  app.setErrorHandler((error, request, reply) => answerError(options, error, request, reply));
  app.setNotFoundHandler(() => {
    throw new HttpError('NOT_FOUND', 'There is nothing at this address.');
  });
  app.addHook('onClose', useJsonWorkers());

  const allowed = [...addRoutes(app, options, '/api', api), ...addRoutes(app, options, '', site)];
  // An expectation that nobody knows may be ignored (RFC 9110, section 10.1.1); Node would answer it by itself.
  app.server.on('checkExpectation', (request, response) => app.routing(request, response));
  return app;
}

function serverWith(intercept: Intercept, inFlight: InFlight): FastifyServerFactory {
  return (handle, { http }) => {
    const server = createServer(http ?? {}, (request, response) => {
      const later = intercept(request, response, () => handle(request, response));
      if (later === undefined) return;
      inFlight.requests++;
      later.finally(() => inFlight.requests--);
    });
    // Fastify sets these on the servers that it makes itself only.
    server.requestTimeout = REQUEST_TIMEOUT_MS;
    server.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS;
    return server;
  };
}

/** A number of proxies counts hops from us outwards; hop 0 is whoever connected. */
export function trustedProxies(
  setting: Config['trustProxy'],
): false | string[] | ((address: string, hop: number) => boolean) {
  return typeof setting === 'number' ? (_address, hop) => hop < setting : setting;
}

interface Allowed {
  pattern: RegExp;
  allow: string;
}

/** Fastify routes the common methods only: for any other one this tells an address that exists from one that does not. */
function refuseUnrouted({ method, url }: FastifyRequest, allowed: readonly Allowed[]): HttpError {
  const path = url.split('?')[0] ?? '/';
  const found = COMMON_METHODS.has(method) ? undefined : allowed.find(({ pattern }) => pattern.test(path));
  return found ? notAllowed(found.allow) : new HttpError('NOT_FOUND', 'There is nothing at this address.');
}

function notAllowed(allow: string): HttpError {
  return new HttpError('METHOD_NOT_ALLOWED', `This address takes ${allow} only.`, { headers: { allow } });
}

/** @returns what each address takes, those without a parameter first */
function addRoutes(
  app: FastifyInstance,
  { platform, bodyBudget }: AppOptions,
  prefix: string,
  routes: Route[],
): Allowed[] {
  const methodsOf = new Map<string, Method[]>();
  const boundBodies = boundLargeBodies(bodyBudget);
  for (const route of routes) {
    const url = prefix + fastifyPath(route.path);
    methodsOf.set(url, [...(methodsOf.get(url) ?? []), route.method]);
    const bodyTypes: BodyType[] | undefined = route.body && (route.bodyTypes ?? ['application/json']);
    const bodyLimit = route.bodyLimitBytes ?? DEFAULT_BODY_LIMIT_BYTES;
    const contextOf = (request: FastifyRequest): RequestContext => ({
      method: request.method,
      addressHash: hashAddress(platform.secrets.addressKey, request.ip),
      isHead: request.method === 'HEAD',
      headers: request.headers,
      log: request.log,
    });
    app.route({
      method: route.method,
      url,
      bodyLimit,
      config: { template: prefix + route.path, ...(bodyTypes && { bodyTypes }) },
      ...(route.guard && {
        onRequest: async (request: FastifyRequest) => {
          request.asker = await admit(route, request, contextOf(request));
        },
      }),
      ...(bodyLimit > LARGE_BODY_BYTES && { preParsing: boundBodies }),
      handler: (request, reply) =>
        countHandler(app, () =>
          handleRoute(route, request, reply, () => contextOf(request), platform.limiter),
        ),
    });
  }
  const allowed: Allowed[] = [];
  for (const [url, methods] of methodsOf) {
    const served = new Set<string>(methods);
    if (served.has('GET')) served.add('HEAD');
    const allow = [...served].sort().join(', ');
    allowed.push({
      pattern: new RegExp(`^${url.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}$`),
      allow,
    });
    const others = app.supportedMethods.filter((method) => !served.has(method));
    app.route({
      method: others,
      url,
      config: { template: url, allow },
      handler: async () => {
        throw notAllowed(allow);
      },
    });
  }
  return allowed.sort(
    (a, b) => Number(a.pattern.source.includes('[')) - Number(b.pattern.source.includes('[')),
  );
}

/** `/pastes/{id}` as the router writes it: `/pastes/:id`. */
function fastifyPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, ':$1');
}

function requireBodyType(request: FastifyRequest, accepted: BodyType[]): void {
  const sent = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (sent !== undefined && accepted.some((type) => type === sent)) return;
  const hasBody =
    request.headers['transfer-encoding'] !== undefined || Number(request.headers['content-length'] ?? 0) > 0;
  if (sent === undefined && !hasBody) return;
  throw new HttpError('UNSUPPORTED_MEDIA_TYPE', `The body must be ${accepted.join(' or ')}.`, {
    headers: { accept: accepted.join(', ') },
  });
}

function answerError(
  options: AppOptions,
  thrown: unknown,
  request: FastifyRequest,
  reply: FastifyReply,
): void {
  const error = toHttpError(thrown);
  const what = { method: request.method, path: pathOf(request) };
  if (thrown instanceof Overloaded) {
    // No failure of ours: of these there are many, and where they come from is known.
    request.log.warn({ reason: thrown.message, ...what }, 'request refused: the server is busy');
  } else if (error.statusCode >= 500) {
    request.log.error({ error: thrown, ...what }, 'request failed');
  }
  const isApi = pathOf(request).startsWith('/api/') || pathOf(request) === '/api';
  const page = isApi ? undefined : options.errorPage?.(error, request);
  reply.code(error.statusCode).headers({ 'cache-control': 'no-store', ...error.headers });
  if (page) reply.type(page.contentType).send(page.body);
  else
    reply
      .type('application/json; charset=utf-8')
      .serializer(String)
      .send(JSON.stringify(options.errors.write(error)));
}

function pathOf(request: FastifyRequest): string {
  return request.url.split('?')[0] ?? '/';
}
