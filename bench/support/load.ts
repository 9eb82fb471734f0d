// Load from one client process with keep-alive connections, the same for us and for a peer.
import autocannon from 'autocannon';

export interface Load {
  url: string;
  connections?: number;
  seconds?: number;
  /** Requests to go round; paths relative to the url. */
  requests: Array<{
    method?: 'GET' | 'POST' | 'PATCH';
    path: string;
    body?: string;
    headers?: Record<string, string>;
  }>;
  /** Deals the requests out, so that no two connections send the same one; otherwise each goes round all of them. */
  isDealt?: boolean;
}

export interface LoadResult {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  ok: number;
}

/** Sends load for a while; throws when anything but a success is answered. */
export async function load({
  url,
  connections = 64,
  seconds = 6,
  requests,
  isDealt = false,
}: Load): Promise<LoadResult> {
  let dealt = 0;
  const result = await autocannon({
    url,
    connections,
    duration: seconds,
    requests,
    ...(isDealt && {
      setupClient: (client) => {
        const mine = dealt++;
        client.setRequests(requests.filter((_, index) => index % connections === mine));
      },
    }),
  });
  const ok = result['2xx'];
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${url}: ${result.non2xx} failures and ${result.errors} errors beside ${ok} successes`);
  }
  return { perSecond: ok / result.duration, p50Ms: result.latency.p50, p99Ms: result.latency.p99, ok };
}
