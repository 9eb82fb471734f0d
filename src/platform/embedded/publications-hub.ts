// The hub of the local publications, in the process that owns the embedded database.
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { encodeLine, LINE_LIMIT_BYTES, readLines } from './json-lines.ts';
import {
  asPublicationRequest,
  type PublicationEvent,
  type PublicationRequest,
  type Publications,
} from './publications-protocol.ts';
import { Subscribers } from './subscribers.ts';

/** A client that has this much unread is dropped: it would reconnect, where a lost message would go unnoticed. */
const UNREAD_LIMIT_BYTES = 4 * LINE_LIMIT_BYTES;

/**
 * Serves publications. Only the owner of the data directory may call it: a socket file that is there is replaced.
 *
 * @param socketPath `publicationsSocket` of the embedded database
 */
export async function serveLocalPublications(socketPath: string): Promise<Publications> {
  const hub = new Hub();
  await hub.listen(socketPath);
  return hub;
}

class Hub implements Publications {
  readonly #server: Server = createServer((socket) => this.#accept(socket));
  readonly #clients = new Map<Socket, Set<string>>();
  readonly #local = new Subscribers();

  async listen(socketPath: string): Promise<void> {
    rmSync(socketPath, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(socketPath, resolve);
    });
    chmodSync(socketPath, 0o600);
  }

  async publish(channel: string, message: string): Promise<void> {
    const line = encodeEvent({ channel, message });
    if (Buffer.byteLength(line) > LINE_LIMIT_BYTES)
      throw new RangeError('The message is too long to be published.');
    this.#distribute(channel, message, line);
  }

  async subscribe(channel: string, handler: (message: string) => void): Promise<() => Promise<void>> {
    const own = (message: string) => handler(message);
    this.#local.add(channel, own);
    return async () => {
      this.#local.remove(channel, own);
    };
  }

  async close(): Promise<void> {
    this.#local.clear();
    for (const socket of this.#clients.keys()) socket.destroy();
    await new Promise<void>((resolve) => {
      this.#server.close(() => resolve());
    });
  }

  #accept(socket: Socket): void {
    this.#clients.set(socket, new Set());
    socket.on('error', () => socket.destroy());
    socket.on('close', () => this.#clients.delete(socket));
    readLines(socket, (value) => {
      const request = asPublicationRequest(value);
      if (request) this.#answer(socket, request);
      else socket.destroy();
    });
  }

  #answer(socket: Socket, { id, action, channel, message }: PublicationRequest): void {
    const channels = this.#clients.get(socket);
    if (action === 'subscribe') channels?.add(channel);
    else if (action === 'unsubscribe') channels?.delete(channel);
    else if (message !== undefined) this.#distribute(channel, message, encodeEvent({ channel, message }));
    this.#send(socket, encodeEvent({ acknowledged: id }));
  }

  #distribute(channel: string, message: string, line: string): void {
    for (const [socket, channels] of this.#clients) {
      if (channels.has(channel)) this.#send(socket, line);
    }
    this.#local.deliver(channel, message);
  }

  #send(socket: Socket, line: string): void {
    socket.write(line);
    if (socket.writableLength > UNREAD_LIMIT_BYTES) socket.destroy();
  }
}

function encodeEvent(event: PublicationEvent): string {
  return encodeLine(event);
}
