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
}

export interface LoadResult {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  ok: number;
}

/** Sends load for a while; throws when anything but a success is answered. */
export async function load({ url, connections = 64, seconds = 6, requests }: Load): Promise<LoadResult> {
  const result = await autocannon({ url, connections, duration: seconds, requests });
  const ok = result['2xx'];
  if (result.non2xx > 0 || result.errors > 0) {
    throw new Error(`${url}: ${result.non2xx} failures and ${result.errors} errors beside ${ok} successes`);
  }
  return { perSecond: ok / result.duration, p50Ms: result.latency.p50, p99Ms: result.latency.p99, ok };
}
