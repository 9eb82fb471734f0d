// Before a connection is a WebSocket: who may open one, and how the others are refused.
import { type IncomingHttpHeaders, STATUS_CODES } from 'node:http';
import type { Duplex } from 'node:stream';

/** Whether a request comes from a page of ours, or from no page at all. */
export function isOriginAccepted(
  { origin, host }: Pick<IncomingHttpHeaders, 'origin' | 'host'>,
  addresses: readonly string[],
): boolean {
  if (origin === undefined) return true;
  const accepted = [
    ...addresses.map((address) => new URL(address).origin),
    `http://${host}`,
    `https://${host}`,
  ];
  return accepted.includes(origin);
}

const CODES: Record<number, [code: string, message: string]> = {
  401: [
    'UNAUTHENTICATED',
    'The ticket is unknown, used, or over: get a new one from POST /api/auth/ws-ticket.',
  ],
  403: ['FORBIDDEN', 'The relay is open to pages of this site only.'],
  404: ['NOT_FOUND', 'There is nothing at this address.'],
  503: ['UNAVAILABLE', 'Try again in a moment.'],
};

// To write out the answer.
const REFUSAL_GRACE_MS = 1_000;

/** Answers a request for an upgrade that is not granted, and ends the connection: the other side need not end it too. */
export function refuseUpgrade(socket: Duplex, status: number): void {
  if (socket.writableEnded || socket.destroyed) return;
  const [code, message] = CODES[status] ?? ['INTERNAL', 'Something went wrong.'];
  const body = JSON.stringify({ error: { code, message } });
  const timeout = setTimeout(() => socket.destroy(), REFUSAL_GRACE_MS).unref();
  socket.once('close', () => clearTimeout(timeout));
  socket.once('finish', () => socket.destroy());
  socket.end(
    [
      `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
      'Connection: close',
      'Content-Type: application/json; charset=utf-8',
      `Content-Length: ${Buffer.byteLength(body)}`,
      ...(status === 503 ? ['Retry-After: 2'] : []),
      '',
      body,
    ].join('\r\n'),
  );
}
