// The hot path: a GET or HEAD of a short code is answered before the router sees it, from memory when it can be.
// Whatever is no plain redirect (a password, an expired or unknown code, a page) goes on to the routes.
import type { IncomingMessage, ServerResponse } from 'node:http';
import proxyAddr from '@fastify/proxy-addr';
import { hashAddress } from '../../platform/addresses.ts';
import type { Destination } from '../../services/links/destination-cache.ts';
import type { LinkService } from '../../services/links/link-service.ts';
import { RESERVED_CODES } from '../../services/links/reserved-codes.ts';
import { type Intercept, trustedProxies } from '../http/app.ts';
import { visitorOf } from './visitor.ts';

/** Status of every redirect: the next click must come here too, to be counted and to find a deleted link gone. */
export const REDIRECT_STATUS = 302;
export const REDIRECT_CACHE_CONTROL = 'private, max-age=0';

/** Makes the interceptor that redirects. */
export function redirectShortCodes(service: LinkService): Intercept {
  const { platform, destinations } = service;
  const { redirects, count } = createCounting(service);
  let answers: Array<{ request: IncomingMessage; response: ServerResponse; destination: Destination }> = [];

  return (request, response, next) => {
    const shortCode = shortCodeIn(request);
    if (shortCode === undefined) return next();
    const warm = destinations.peek(shortCode);
    if (warm) return redirect(request, response, warm);
    return destinations.find(shortCode).then(
      (found) => (found ? redirect(request, response, found) : next()),
      (error: unknown) => {
        // The routes ask again, and say what is wrong in the shape that errors have.
        platform.log.debug({ error }, 'looking for a destination failed');
        next();
      },
    );
  };

  function redirect(request: IncomingMessage, response: ServerResponse, destination: Destination): void {
    if (answers.length === 0) setImmediate(answerAll);
    answers.push({ request, response, destination });
  }

  /** Answers back to back what came in one turn of the event loop, and only then counts it: nobody waits for a count. */
  function answerAll(): void {
    const batch = answers;
    answers = [];
    for (const { response, destination } of batch) {
      // docs/decisions/0004: what each of these is for, and why there are no others.
      response.writeHead(REDIRECT_STATUS, [
        'location',
        destination.location,
        'cache-control',
        REDIRECT_CACHE_CONTROL,
        'content-length',
        '0',
      ]);
      response.end();
    }
    redirects.inc(batch.length);
    for (const { request, destination } of batch) {
      if (request.method === 'GET') count(request, destination);
    }
  }
}

function createCounting({ platform, clicks }: LinkService) {
  const { secrets, config, clock, metrics } = platform;
  const trusted = trustedProxies(config.trustProxy);
  const trust = Array.isArray(trusted) ? proxyAddr.compile(trusted) : trusted;
  const addressOf = (request: IncomingMessage) =>
    trust ? proxyAddr(request, trust) : (request.socket.remoteAddress ?? '');

  return {
    redirects: metrics.linkRedirects,
    count: (request: IncomingMessage, { linkKey }: Destination) => {
      const { isBot, ...visitor } = visitorOf(
        request.headers,
        hashAddress(secrets.addressKey, addressOf(request)),
      );
      if (!isBot) clicks.add({ ...visitor, linkKey, clickedAt: clock.now() });
    },
  };
}

const SHORT_CODE_PATH = /^\/([a-zA-Z0-9_-]{3,20})(?:\?|$)/;

function shortCodeIn({ method, url = '' }: IncomingMessage): string | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined;
  const shortCode = SHORT_CODE_PATH.exec(url)?.[1];
  return shortCode === undefined || RESERVED_CODES.has(shortCode) ? undefined : shortCode;
}
