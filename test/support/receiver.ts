// A receiver of webhooks that really listens, and does as it is told.
import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Received {
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
}

export type Reaction = (response: ServerResponse, received: Received) => void;

export interface Receiver {
  url: string;
  received: Received[];
  /** How many requests it has had at once. */
  mostAtOnce(): number;
  /** What it does from now on; 204 unless told otherwise. */
  react(reaction: Reaction): void;
  close(): Promise<void>;
}

/** An answer of a status, without a body. */
export const answer =
  (status: number, headers: Record<string, string> = {}): Reaction =>
  (response) => {
    response.writeHead(status, headers).end();
  };

/** Starts a receiver. */
export async function startReceiver(): Promise<Receiver> {
  const received: Received[] = [];
  let reaction: Reaction = answer(204);
  let atOnce = 0;
  let most = 0;
  const server = createServer(async (request, response) => {
    most = Math.max(most, ++atOnce);
    response.on('close', () => {
      atOnce--;
    });
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const one = {
      path: request.url ?? '',
      headers: request.headers,
      body: Buffer.concat(chunks).toString(),
    };
    received.push(one);
    reaction(response, one);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    mostAtOnce: () => most,
    react: (next) => {
      reaction = next;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
