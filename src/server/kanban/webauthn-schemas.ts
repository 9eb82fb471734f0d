// What authenticators answer, as browsers write it (PublicKeyCredential.toJSON): of the right form before it gets any
// further. What else is in it is left alone.
import { z } from 'zod';

const TRANSPORTS = ['ble', 'cable', 'hybrid', 'internal', 'nfc', 'smart-card', 'usb'] as const;

// An id has at most 1023 bytes (Web Authentication, section 4).
const ID_LENGTH = 1364;
const PART_LENGTH = 65_536;

function bytes(most: number) {
  return z
    .string({ error: 'must be a text' })
    .max(most, `must have at most ${most} characters`)
    .regex(/^[A-Za-z0-9_-]+$/, 'must be base64url');
}

const part = bytes(PART_LENGTH);

function answer<Shape extends z.ZodRawShape>(response: Shape) {
  return z.looseObject(
    {
      id: bytes(ID_LENGTH),
      rawId: bytes(ID_LENGTH),
      type: z.literal('public-key', { error: 'must be public-key' }),
      response: z.looseObject(response, { error: 'must be a JSON object' }),
    },
    { error: 'must be a JSON object' },
  );
}

/** What `navigator.credentials.create()` answered. */
export const registrationAnswer = answer({
  clientDataJSON: part,
  attestationObject: part,
  transports: z
    .array(z.enum(TRANSPORTS, { error: `must be one of ${TRANSPORTS.join(', ')}` }), {
      error: 'must be a list',
    })
    .max(TRANSPORTS.length, 'is too long')
    .optional(),
});

/** What `navigator.credentials.get()` answered. */
export const assertionAnswer = answer({
  clientDataJSON: part,
  authenticatorData: part,
  signature: part,
  // The empty text is what some browsers write for none.
  userHandle: z.union([part, z.literal('')], { error: 'must be base64url' }).nullish(),
});
