// A command line that cannot be done as it stands.
import { Failure } from '../platform/errors.ts';
import { EXIT } from '../platform/exit-codes.ts';

/** A failure of the command line itself (exit 2). */
export function usage(message: string, hint: string): Failure {
  return new Failure({ code: 'USAGE', message, hint, exit: EXIT.usage });
}
