// A process that publishes to, or listens at, the hub in the owner of the embedded database.
import { connect, type Socket } from 'node:net';
import { encodeLine, LINE_LIMIT_BYTES, readLines } from './json-lines.ts';
import {
  asPublicationEvent,
  type PublicationRequest,
  type Publications,
  PublicationsUnavailableError,
} from './publications-protocol.ts';
import { Subscribers } from './subscribers.ts';

const RECONNECT_FIRST_MS = 20;
const RECONNECT_LAST_MS = 1000;
/** A request waits this long for a hub and its acknowledgement. */
const REQUEST_TIMEOUT_MS = 2000;

interface PendingRequest {
  line: string;
  sent: boolean;
  finish(error?: Error): void;
}

/**
 * Connects to the hub. Resolves after the first attempt even where no hub is there yet: the connection is tried again
 * for as long as the client is open, and subscriptions are renewed with each new one.
 *
 * @param socketPath `publicationsSocket` of the embedded database
 */
export async function connectLocalPublications(socketPath: string): Promise<Publications> {
  const client = new Client(socketPath);
  await client.connect();
  return client;
}

class Client implements Publications {
  readonly #socketPath: string;
  readonly #subscribers = new Subscribers();
  readonly #pending = new Map<number, PendingRequest>();
  #socket: Socket | undefined;
  #isOpen = false;
  #reconnectMs = RECONNECT_FIRST_MS;
  #reconnectTimer: NodeJS.Timeout | undefined;
  #nextId = 1;
  #closed = false;

  constructor(socketPath: string) {
    this.#socketPath = socketPath;
  }

  /** One attempt; the next ones follow by themselves. */
  connect(): Promise<void> {
    const socket = connect(this.#socketPath);
    this.#socket = socket;
    return new Promise((attempted) => {
      socket.once('connect', () => {
        this.#reconnectMs = RECONNECT_FIRST_MS;
        this.#open(socket);
        attempted();
      });
      socket.on('error', () => socket.destroy());
      socket.once('close', () => {
        this.#lose();
        attempted();
      });
    });
  }

  async publish(channel: string, message: string): Promise<void> {
    await this.#request({ action: 'publish', channel, message });
  }

  async subscribe(channel: string, handler: (message: string) => void): Promise<() => Promise<void>> {
    const own = (message: string) => handler(message);
    this.#subscribers.add(channel, own);
    try {
      await this.#request({ action: 'subscribe', channel });
    } catch (error) {
      this.#subscribers.remove(channel, own);
      throw error;
    }
    return async () => {
      // Without a connection the hub has forgotten us already, and the next one renews only what is left.
      if (this.#subscribers.remove(channel, own) && this.#isOpen) {
        await this.#request({ action: 'unsubscribe', channel });
      }
    };
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    clearTimeout(this.#reconnectTimer);
    this.#subscribers.clear();
    for (const { sent, finish } of this.#pending.values()) {
      if (!sent) finish(new PublicationsUnavailableError('this client was closed'));
    }
    const socket = this.#socket;
    if (!socket || socket.destroyed) return;
    await new Promise<void>((resolve) => {
      socket.once('close', () => resolve());
      socket.destroySoon();
    });
  }

  #open(socket: Socket): void {
    readLines(socket, (value) => {
      const event = asPublicationEvent(value);
      if (!event) socket.destroy();
      else if ('acknowledged' in event) this.#pending.get(event.acknowledged)?.finish();
      else this.#subscribers.deliver(event.channel, event.message);
    });
    for (const channel of this.#subscribers.channels) {
      socket.write(encodeLine({ id: this.#nextId++, action: 'subscribe', channel }));
    }
    this.#isOpen = true;
    for (const request of this.#pending.values()) this.#send(request);
  }

  #lose(): void {
    this.#isOpen = false;
    for (const { sent, finish } of this.#pending.values()) {
      // Whether the hub took it is unknown; what was not sent yet waits for the next connection.
      if (sent) finish(new PublicationsUnavailableError('the connection was lost before it answered'));
    }
    if (this.#closed) return;
    this.#reconnectTimer = setTimeout(() => void this.connect(), this.#reconnectMs);
    this.#reconnectMs = Math.min(this.#reconnectMs * 2, RECONNECT_LAST_MS);
  }

  /** Sends a request, now or with the next connection, and resolves with its acknowledgement. */
  #request(request: Omit<PublicationRequest, 'id'>): Promise<void> {
    if (this.#closed) return Promise.reject(new PublicationsUnavailableError('this client is closed'));
    const id = this.#nextId++;
    const line = encodeLine({ id, ...request });
    if (Buffer.byteLength(line) > LINE_LIMIT_BYTES) {
      return Promise.reject(new RangeError('The message is too long to be published.'));
    }
    return new Promise<void>((resolve, reject) => {
      const finish = (error?: Error) => {
        clearTimeout(timer);
        this.#pending.delete(id);
        if (error) reject(error);
        else resolve();
      };
      const timer = setTimeout(() => {
        finish(new PublicationsUnavailableError(`no answer within ${REQUEST_TIMEOUT_MS / 1000} s`));
      }, REQUEST_TIMEOUT_MS);
      const pending: PendingRequest = { line, sent: false, finish };
      this.#pending.set(id, pending);
      if (this.#isOpen) this.#send(pending);
    });
  }

  #send(request: PendingRequest): void {
    this.#socket?.write(request.line);
    request.sent = true;
  }
}
