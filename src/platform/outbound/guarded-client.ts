// The one HTTP client for requests to addresses that a stranger named. It resolves a name once, refuses unless every
// address is public, and connects to what it has checked: a name that changes its answer in between gains nothing.
// No redirects, bounded time, bounded answer.
import { lookup as resolveName } from 'node:dns/promises';
import { isIP } from 'node:net';
import { Agent, buildConnector } from 'undici';
import { isPublicAddress } from '../public-addresses.ts';

export interface OutboundRequest {
  url: string;
  method: 'POST';
  headers: Record<string, string>;
  body: string;
  /** For all of it: name, connection, answer. */
  timeoutMs: number;
}

export interface OutboundAnswer {
  status: number;
  headers: Record<string, string | string[] | undefined>;
}

export interface GuardedClient {
  /**
   * Sends a request; answers its status and headers, the body is not read further than to keep the connection.
   *
   * @throws with a message fit for whoever named the address
   */
  request(request: OutboundRequest): Promise<OutboundAnswer>;
  close(): Promise<void>;
}

export interface GuardedClientOptions {
  /** Whether private addresses may be reached (tests and closed networks). */
  allowPrivate: boolean;
  /** Resolves a name; the system's resolver unless told otherwise. */
  resolve?: (hostname: string) => Promise<Array<{ address: string; family: number }>>;
  /** Connections to one origin; as many as there are requests unless told otherwise. */
  connectionsPerOrigin?: number;
}

const MOST_ANSWER_BYTES = 16_384;
const KEEP_ALIVE_MS = 10_000;

/** Makes a client. */
export function createGuardedClient({
  allowPrivate,
  resolve = (hostname) => resolveName(hostname, { all: true, verbatim: true }),
  connectionsPerOrigin,
}: GuardedClientOptions): GuardedClient {
  const connect = buildConnector({
    timeout: 0,
    lookup: (hostname, options, callback) => {
      addressesOf(hostname).then(
        (addresses) => {
          if (options.all) callback(null, addresses);
          else callback(null, addresses[0]?.address ?? '', addresses[0]?.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, ''),
      );
    },
  });
  const addressesOf = async (hostname: string) => {
    const addresses = await resolve(hostname);
    if (addresses.length === 0) throw new Error(`${hostname} has no address`);
    if (!allowPrivate && !addresses.every(({ address }) => isPublicAddress(address))) {
      throw new Error(`${hostname} leads to a private or reserved address`);
    }
    return addresses;
  };
  const agent = new Agent({
    connections: connectionsPerOrigin ?? null,
    pipelining: 1,
    keepAliveTimeout: KEEP_ALIVE_MS,
    keepAliveMaxTimeout: KEEP_ALIVE_MS,
    maxHeaderSize: MOST_ANSWER_BYTES,
    // The whole has a limit of its own.
    headersTimeout: 0,
    bodyTimeout: 0,
    connect: (options, callback) => {
      const literal = options.hostname.replace(/^\[|\]$/g, '');
      // An address in the URL is connected to without any lookup.
      if (isIP(literal) !== 0 && !allowPrivate && !isPublicAddress(literal)) {
        callback(new Error(`${literal} is a private or reserved address`), null);
        return;
      }
      connect(options, callback);
    },
  });
  return {
    request: (request) => send(agent, request),
    close: () => agent.destroy(),
  };
}

async function send(
  agent: Agent,
  { url, method, headers, body, timeoutMs }: OutboundRequest,
): Promise<OutboundAnswer> {
  const { origin, pathname, search } = new URL(url);
  const timeout = new AbortController();
  const timer = setTimeout(
    () => timeout.abort(new Error(`no complete answer within ${timeoutMs / 1000} s`)),
    timeoutMs,
  );
  try {
    const answer = await agent.request({
      origin,
      path: pathname + search,
      method,
      headers,
      body,
      signal: timeout.signal,
    });
    // The status is all that counts; what is short is read so that the connection can serve again.
    await answer.body.dump({ limit: MOST_ANSWER_BYTES, signal: timeout.signal }).catch(() => undefined);
    return { status: answer.statusCode, headers: answer.headers };
  } catch (error) {
    throw timeout.signal.aborted ? timeout.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}
