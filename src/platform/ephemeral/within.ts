// An answer that is not waited for without end.

/** No answer came in time. */
export class TooLate extends Error {
  override readonly name = 'TooLate';
}

/**
 * The outcome of work, if it comes in time. What comes later is nobody's business any more.
 *
 * @throws {TooLate} when there is none after so many milliseconds
 */
export function within<T>(timeoutMs: number, work: Promise<T>): Promise<T> {
  const { promise, resolve, reject } = Promise.withResolvers<T>();
  const tooLate = () => reject(new TooLate(`no answer within ${timeoutMs} ms`));
  // An event loop that was busy sees its timers before what has arrived meanwhile: that gets its turn first.
  const timer = setTimeout(() => setImmediate(tooLate), timeoutMs);
  work.then(resolve, reject).finally(() => clearTimeout(timer));
  return promise;
}
