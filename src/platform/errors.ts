// Failures that any door may have to explain: what failed, why, and what to do about it.

export interface FailureDetails {
  /** Stable, upper case: `DATABASE_UNREACHABLE`. */
  code: string;
  /** What failed, and why. */
  message: string;
  /** What the operator can do; shown after `Try:`. */
  hint: string;
  /** Exit status for the terminal (design: exit codes). */
  exit: number;
  cause?: unknown;
}

/** A failure whose reason is known and can be acted upon; the terminal prints it without a stack. */
export class Failure extends Error {
  readonly code: string;
  readonly hint: string;
  readonly exit: number;

  constructor({ code, message, hint, exit, cause }: FailureDetails) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'Failure';
    this.code = code;
    this.hint = hint;
    this.exit = exit;
  }
}

/** The message of anything that was thrown. */
export function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '' && error.errors.length > 0) {
    return error.errors.map(messageOf).join('; ');
  }
  return error instanceof Error ? error.message || error.name : String(error);
}

/** The `code` of an error from Node, pg or ioredis, where it has one. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}
