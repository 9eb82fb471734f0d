// Load of redirects from one client process over bare sockets: a million different requests need no memory, and the
// client takes little of the two cores that the servers share with it.
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { percentile } from './report.ts';

export interface RedirectLoad {
  url: string;
  connections?: number;
  seconds: number;
  /** Path and header lines (each ending in CRLF) of the next request. */
  next: () => { path: string; headers: string };
}

export interface RedirectLoadResult {
  redirects: number;
  perSecond: number;
  p99Ms: number;
}

const END = '\r\n\r\n';

/** Sends requests, one at a time on each connection; throws when anything but a 302 without a body is answered. */
export async function loadRedirects({
  url,
  connections = 64,
  seconds,
  next,
}: RedirectLoad): Promise<RedirectLoadResult> {
  const { hostname, port, host } = new URL(url);
  const latencies: number[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + seconds * 1000;
  await Promise.all(
    Array.from({ length: connections }, async () => {
      const socket = connect({ host: hostname, port: Number(port), noDelay: true });
      await once(socket, 'connect');
      await useConnection(socket);
    }),
  );
  return {
    redirects: latencies.length,
    perSecond: (latencies.length * 1000) / (performance.now() - startedAt),
    p99Ms: percentile(latencies, 0.99),
  };

  function useConnection(socket: Socket): Promise<void> {
    return new Promise((resolve, reject) => {
      let sentAt = 0;
      let received = '';
      const send = () => {
        const { path, headers } = next();
        sentAt = performance.now();
        socket.write(`GET ${path} HTTP/1.1\r\nhost: ${host}\r\n${headers}\r\n`);
      };
      socket.setEncoding('latin1');
      socket.on('error', reject);
      socket.on('close', () => reject(new Error(`${url} closed a connection`)));
      socket.on('data', (chunk: string) => {
        received += chunk;
        if (!received.endsWith(END)) return;
        if (!received.startsWith('HTTP/1.1 302')) return reject(new Error(received));
        received = '';
        const now = performance.now();
        latencies.push(now - sentAt);
        if (now < endsAt) return send();
        socket.removeAllListeners('close');
        socket.destroy();
        resolve();
      });
      send();
    });
  }
}
