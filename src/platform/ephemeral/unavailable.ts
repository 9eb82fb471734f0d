// Tells a Redis that is away from one that was asked something wrong.
import { messageOf } from '../errors.ts';
import { TooLate } from './within.ts';

const DRIVER_MESSAGES =
  /^(Connection is closed|Command timed out|Stream isn't writeable|Reached the max retries per request|connect |read ECONN|write E|LOADING |READONLY |CLUSTERDOWN |Failed to refresh slots cache|None of startup nodes)/;

/** Whether an error means that Redis cannot be used now, and the same request may succeed later. */
export function isEphemeralUnavailable(error: unknown): boolean {
  return error instanceof TooLate || DRIVER_MESSAGES.test(messageOf(error));
}
