// A file that holds no links that could be read.
import { Failure } from '../../../platform/errors.ts';
import { EXIT } from '../../../platform/exit-codes.ts';

/** A failure for it (INPUT_INVALID, exit 2). */
export function invalidInput(message: string, hint: string): Failure {
  return new Failure({ code: 'INPUT_INVALID', message, hint, exit: EXIT.usage });
}
