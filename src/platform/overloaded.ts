// Thrown instead of queueing without bound; a server answers it with 503 and Retry-After.

export class Overloaded extends Error {
  readonly code = 'OVERLOADED';
  override readonly name = 'Overloaded';
}
