// How much of large bodies a process holds at a time, however many are sent: what has come of them is counted until
// they are answered. What was only announced is not, so that nobody takes the room of others by announcing.
import { Transform } from 'node:stream';
import type { FastifyRequest, preParsingHookHandler } from 'fastify';
import { Overloaded } from '../../platform/overloaded.ts';

export interface BodyBudget {
  heldBytes: number;
  readonly mostBytes: number;
}

/** Smaller ones are not counted. */
export const LARGE_BODY_BYTES = 1_048_576;

// The applications of a process share it.
const ofProcess: BodyBudget = { heldBytes: 0, mostBytes: 256 * 1_048_576 };

/**
 * Makes the hook that counts large bodies.
 *
 * @throws {Overloaded} in the hook, for a body without room: at once where it is known, else while it is read
 */
export function boundLargeBodies(budget: BodyBudget = ofProcess): preParsingHookHandler {
  return (request, reply, payload, done) => {
    const announced = announcedBytes(request);
    if (announced <= LARGE_BODY_BYTES) return done(null, payload);
    if (budget.heldBytes + announced > budget.mostBytes) return done(noRoom());
    let held = 0;
    const counted = new Transform({
      transform: (chunk: Buffer, _encoding, next) => {
        held += chunk.byteLength;
        budget.heldBytes += chunk.byteLength;
        if (budget.heldBytes > budget.mostBytes) next(noRoom());
        else next(null, chunk);
      },
    });
    // Fires once, whether the answer was sent or the client went away.
    reply.raw.once('close', () => {
      counted.destroy();
      budget.heldBytes -= held;
    });
    payload.once('error', (error) => counted.destroy(error));
    done(null, payload.pipe(counted));
  };
}

/** What a body may grow to: as long as it says, else as long as is allowed. */
function announcedBytes({ headers, routeOptions }: FastifyRequest): number {
  if (headers['content-length'] !== undefined) return Number(headers['content-length']);
  return headers['transfer-encoding'] === undefined ? 0 : (routeOptions.bodyLimit ?? 0);
}

function noRoom(): Overloaded {
  return new Overloaded('too many large bodies are being taken in');
}
