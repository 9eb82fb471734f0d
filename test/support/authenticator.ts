// An authenticator in software (Web Authentication, level 3): a P-256 key, a counter, and just enough CBOR (RFC 8949)
// for an attestation of the format `none`.
import { createHash, generateKeyPairSync, randomBytes, sign } from 'node:crypto';

const USER_PRESENT = 0x01;
const HAS_CREDENTIAL = 0x40;

export interface AuthenticatorOptions {
  /** Where its answers are said to come from. */
  origin: string;
  /** Its id; a new one when left out. */
  credentialId?: Buffer;
}

export interface Answer {
  id: string;
  rawId: string;
  type: 'public-key';
  clientExtensionResults: Record<string, never>;
  response: Record<string, unknown>;
}

export interface Authenticator {
  /** The answer to options for `navigator.credentials.create()`. */
  register(options: { challenge: string }): Answer;
  /**
   * The answer to options for `navigator.credentials.get()`.
   *
   * @param counter - what it says of itself; one more than before when left out
   */
  assert(options: { challenge: string }, counter?: number): Answer;
}

/** Makes an authenticator with one credential. */
export function createAuthenticator({
  origin,
  credentialId = randomBytes(32),
}: AuthenticatorOptions): Authenticator {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  // Key type EC2, algorithm ES256, curve P-256 (RFC 9053).
  const coseKey = cborMap([
    [1, 2],
    [3, -7],
    [-1, 1],
    [-2, Buffer.from(x, 'base64url')],
    [-3, Buffer.from(y, 'base64url')],
  ]);
  const id = credentialId.toString('base64url');
  let count = 0;

  const clientData = (type: string, challenge: string) =>
    Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  const authenticatorData = (flags: number, counter: number, credential = Buffer.alloc(0)) => {
    const head = Buffer.alloc(5);
    head.writeUInt8(flags, 0);
    head.writeUInt32BE(counter, 1);
    return Buffer.concat([sha256(Buffer.from(new URL(origin).hostname)), head, credential]);
  };
  const answer = (response: Record<string, unknown>): Answer => ({
    id,
    rawId: id,
    type: 'public-key',
    clientExtensionResults: {},
    response,
  });

  return {
    register: ({ challenge }) => {
      const length = Buffer.alloc(2);
      length.writeUInt16BE(credentialId.byteLength);
      const aaguid = Buffer.alloc(16);
      const credential = Buffer.concat([aaguid, length, credentialId, coseKey]);
      const attestation = cborMap([
        ['fmt', 'none'],
        ['attStmt', []],
        ['authData', authenticatorData(USER_PRESENT | HAS_CREDENTIAL, count, credential)],
      ]);
      return answer({
        clientDataJSON: clientData('webauthn.create', challenge).toString('base64url'),
        attestationObject: attestation.toString('base64url'),
        transports: ['internal', 'hybrid'],
      });
    },
    assert: ({ challenge }, counter = ++count) => {
      const client = clientData('webauthn.get', challenge);
      const data = authenticatorData(USER_PRESENT, counter);
      return answer({
        clientDataJSON: client.toString('base64url'),
        authenticatorData: data.toString('base64url'),
        signature: sign('sha256', Buffer.concat([data, sha256(client)]), privateKey).toString('base64url'),
      });
    },
  };
}

function sha256(bytes: Buffer): Buffer {
  return createHash('sha256').update(bytes).digest();
}

type Entry = [string | number, string | number | Buffer | Entry[]];

function cborMap(entries: Entry[]): Buffer {
  return Buffer.concat([cborHead(5, entries.length), ...entries.flat().map(cbor)]);
}

function cbor(value: Entry[0] | Entry[1]): Buffer {
  if (typeof value === 'number') return value < 0 ? cborHead(1, -1 - value) : cborHead(0, value);
  if (typeof value === 'string') return Buffer.concat([cborHead(3, value.length), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([cborHead(2, value.byteLength), value]);
  return cborMap(value);
}

/** Type and length, or value, in one to three bytes. */
function cborHead(type: number, value: number): Buffer {
  if (value < 24) return Buffer.from([(type << 5) | value]);
  if (value < 256) return Buffer.from([(type << 5) | 24, value]);
  return Buffer.from([(type << 5) | 25, value >> 8, value & 0xff]);
}
