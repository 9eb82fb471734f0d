// What goes over the relay: control in text frames, traffic in binary ones (docs/relay.md).

export type ControlRequest = { type: 'join' | 'leave'; room: string };

/** What a text frame asks for; undefined when it asks for nothing that is known. */
export function parseControl(data: Buffer): ControlRequest | undefined {
  try {
    const value: unknown = JSON.parse(data.toString('utf8'));
    if (typeof value !== 'object' || value === null) return undefined;
    const { type, room } = value as Record<string, unknown>;
    return (type === 'join' || type === 'leave') && typeof room === 'string' ? { type, room } : undefined;
  } catch {
    return undefined;
  }
}

/** The room that a binary frame is for: one byte of length, the name, the ciphertext. */
export function roomOf(data: Buffer): string | undefined {
  const length = data[0];
  if (length === undefined || length === 0 || data.length < 1 + length) return undefined;
  return data.toString('utf8', 1, 1 + length);
}

const OPCODE = { text: 0x1, binary: 0x2, ping: 0x9 };
const FINAL = 0x80;

/**
 * A frame from the server, header and payload in one piece (RFC 6455, section 5.2): made once, the same bytes go to
 * every receiver.
 */
export function encodeFrame(kind: keyof typeof OPCODE, payload: Uint8Array): Buffer {
  const { length } = payload;
  const headerLength = length < 126 ? 2 : length < 65_536 ? 4 : 10;
  const frame = Buffer.allocUnsafeSlow(headerLength + length);
  frame[0] = FINAL | OPCODE[kind];
  if (headerLength === 2) frame[1] = length;
  else if (headerLength === 4) {
    frame[1] = 126;
    frame.writeUInt16BE(length, 2);
  } else {
    frame[1] = 127;
    frame.writeBigUInt64BE(BigInt(length), 2);
  }
  frame.set(payload, headerLength);
  return frame;
}

/** A text frame with a message of the relay. */
export function encodeControl(message: Record<string, unknown>): Buffer {
  return encodeFrame('text', Buffer.from(JSON.stringify(message)));
}
