// What the paste service says in its own terms, as HTTP says it (paste-api.md, Errors).
import { PasteError } from '../../services/paste/errors.ts';
import { badRequest, HttpError } from '../http/errors.ts';

/** Runs service work and turns its refusals into HTTP's. */
export async function translatingPasteErrors<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw error instanceof PasteError ? toHttp(error) : error;
  }
}

function toHttp(error: PasteError): HttpError {
  switch (error.code) {
    case 'PASTE_NOT_FOUND':
      return new HttpError('NOT_FOUND', error.message);
    case 'PASSWORD_REQUIRED':
      return new HttpError('FORBIDDEN', error.message, { members: { passwordRequired: true } });
    case 'WRONG_PASSWORD':
      return new HttpError('UNAUTHENTICATED', error.message);
    case 'ID_TAKEN':
      return new HttpError('CONFLICT', error.message);
    case 'ID_RESERVED':
      return badRequest({ customId: ['is reserved'] });
  }
}
