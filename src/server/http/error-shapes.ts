// The two bodies an error can have (contract, section 2): flat for paste and links, nested with a code for kanban.
import { z } from 'zod';
import type { HttpError } from './errors.ts';

export interface ErrorShape {
  /** Body schema for an error of the given status, with members of its own, for the OpenAPI document. */
  schema(status: number, members?: z.ZodRawShape): z.ZodType;
  write(error: HttpError): Record<string, unknown>;
}

const details = z
  .record(z.string(), z.array(z.string()))
  .meta({ description: 'Field name → what is wrong with it.' });
const message = z.string().meta({ description: 'What went wrong, for people.' });

export const flatErrors: ErrorShape = {
  schema: (status, members = {}) =>
    z.object({ error: message, ...(status === 400 && { details }), ...members }),
  write: (error) => ({
    error: error.message,
    ...(error.details && { details: error.details }),
    ...error.members,
  }),
};

export const nestedErrors: ErrorShape = {
  schema: (status, members = {}) =>
    z.object({
      error: z.object({
        code: z.string(),
        message,
        ...(status === 400 && { details: details.optional() }),
        ...members,
      }),
    }),
  write: (error) => ({
    error: {
      code: error.serviceCode,
      message: error.message,
      ...(error.details && { details: error.details }),
      ...error.members,
    },
  }),
};
