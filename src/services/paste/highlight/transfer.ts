// How a worker hands large memory to the thread that asked: moved, not copied, though it sits inside an object.
import { move, transferableSymbol, valueSymbol } from 'piscina';

/** What a worker function returns so that the pool answers `value` and moves its buffers instead of copying them. */
export function transferring(value: object, buffers: readonly ArrayBuffer[]): unknown {
  return move({ [transferableSymbol]: buffers, [valueSymbol]: value });
}
