// What the link service says in its own terms, as HTTP says it (link-api.md, Errors).
import { LinkError } from '../../services/links/errors.ts';
import { badRequest, HttpError } from '../http/errors.ts';

/** Runs service work and turns its refusals into HTTP's. */
export async function translatingLinkErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof LinkError ? toHttp(error) : error;
  }
}

function toHttp(error: LinkError): HttpError {
  switch (error.code) {
    case 'LINK_NOT_FOUND':
      return new HttpError('NOT_FOUND', error.message);
    case 'NOT_UNLOCKED':
      return new HttpError('UNAUTHENTICATED', error.message);
    case 'CODE_TAKEN':
      return new HttpError('CONFLICT', error.message);
    case 'CODE_RESERVED':
      return badRequest({ customCode: ['is reserved'] });
  }
}
