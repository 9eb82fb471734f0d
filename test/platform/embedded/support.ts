// What the tests of the embedded database share: scratch directories, clients, and raw connections to the front.
import '../../support/short-lived-wasm.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import type { EmbeddedDatabase } from '../../../src/platform/embedded/open.ts';
import { databaseSocket } from '../../../src/platform/embedded/owner-record.ts';
import { encodeStartup, HEADER_BYTES, readErrorFields } from '../../../src/platform/embedded/wire.ts';

/** A directory of its own under the temporary one, removed with `await using`. */
export function aScratchDirectory(): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'svc-test-'));
  return { path, [Symbol.dispose]: () => rmSync(path, { recursive: true, force: true }) };
}

/** A connected `pg` client whose lost connection is not an unhandled error. */
export async function aClient(database: EmbeddedDatabase): Promise<pg.Client> {
  const client = new pg.Client(database.connection);
  client.on('error', () => {});
  await client.connect();
  return client;
}

/** The error a promise rejects with; a promise that resolves fails the test. */
export async function rejection(promise: Promise<unknown>): Promise<Error & { code?: unknown }> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof Error) return error;
    throw error;
  }
  throw new Error('expected a rejection, but the promise resolved');
}

/** One message of the front: type and body. */
export interface RawMessage {
  type: string;
  body: Buffer;
}

/** A connection that sends bytes as they are and collects the messages that come back. */
export class RawConnection {
  readonly socket: Socket;
  readonly messages: RawMessage[] = [];
  readonly closed: Promise<void>;
  #received = Buffer.alloc(0);
  #wake: () => void = () => {};

  constructor(socketDirectory: string) {
    this.socket = connect(databaseSocket(socketDirectory));
    this.socket.on('error', () => {});
    this.socket.on('data', (chunk) => this.#read(chunk));
    this.closed = new Promise((resolve) => this.socket.on('close', () => resolve()));
    this.socket.on('close', () => this.#wake());
  }

  /** A connection whose session has begun. */
  static async begun(socketDirectory: string): Promise<RawConnection> {
    const connection = new RawConnection(socketDirectory);
    connection.send(encodeStartup({ user: 'postgres', database: 'postgres' }));
    await connection.until('Z');
    return connection;
  }

  send(...parts: Buffer[]): void {
    this.socket.write(Buffer.concat(parts));
  }

  /** Takes the messages up to and including the next of a type; fails where the connection closes before. */
  async until(type: string): Promise<RawMessage[]> {
    for (;;) {
      const index = this.messages.findIndex((message) => message.type === type);
      if (index >= 0) return this.messages.splice(0, index + 1);
      if (this.socket.closed) {
        const types = this.messages.map((message) => message.type).join('');
        throw new Error(`the connection closed before a message ${type} (got ${types})`);
      }
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }

  #read(chunk: Buffer): void {
    this.#received = Buffer.concat([this.#received, chunk]);
    while (this.#received.length >= HEADER_BYTES) {
      const end = 1 + this.#received.readUInt32BE(1);
      if (this.#received.length < end) break;
      const type = String.fromCharCode(this.#received[0] ?? 0);
      this.messages.push({ type, body: this.#received.subarray(HEADER_BYTES, end) });
      this.#received = this.#received.subarray(end);
    }
    this.#wake();
  }
}

/** Message types in their order, as one string. */
export function typesOf(messages: RawMessage[]): string {
  return messages.map((message) => message.type).join('');
}

/** SQLSTATE of the first error among messages. */
export function errorCodeIn(messages: RawMessage[]): string | undefined {
  const error = messages.find((message) => message.type === 'E');
  return error && readErrorFields(error.body).get('C');
}
