// Browsers get pages, programs (curl, scripts) get JSON.
import type { FastifyRequest } from 'fastify';

/** Whether whoever asks takes HTML, as browsers say that they do. */
export function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') === true;
}
