// Requests and replies of the paste API (paste-api.md), each defined once.
import { z } from 'zod';
import { EXPIRY_SECONDS, type ExpiresIn } from '../../services/paste/create-paste.ts';
import { resolveLanguage } from '../../services/paste/languages.ts';
import { text, timestamp } from '../http/fields.ts';

const EXPIRY_NAMES = Object.keys(EXPIRY_SECONDS) as [ExpiresIn, ...ExpiresIn[]];

/** Longer than any id: a path that long names nothing. */
export const pasteIdParam = z.object({
  id: z
    .string()
    .regex(/^[a-zA-Z0-9_-]{4,32}$/)
    .meta({ description: 'Id of the paste.', examples: ['Xk4pQ7mNz2'] }),
});

const language = z
  .string({ error: 'must be a text' })
  .transform((value, context) => {
    const id = resolveLanguage(value);
    if (id === undefined)
      context.addIssue({
        code: 'custom',
        message: 'is not a supported language; GET /api/languages lists them',
      });
    return id ?? 'plaintext';
  })
  .meta({ description: 'Id or alias of a supported language.', examples: ['typescript', 'ts'] });

const content = z
  .string({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be a text') })
  .min(1, 'must not be empty')
  .refine((value) => !value.includes('\0'), 'must not contain NUL characters')
  .meta({ description: 'The text: 1 character to 1,048,576 bytes of UTF-8. Stored as it is sent.' });

const optional = <T extends z.ZodType>(schema: T) => schema.nullish();

export const createPasteBody = z.object(
  {
    content,
    title: optional(text({ least: 0, most: 100 })).meta({ description: 'At most 100 characters.' }),
    language: language.prefault('plaintext'),
    expiresIn: z.enum(EXPIRY_NAMES, { error: `must be one of ${EXPIRY_NAMES.join(', ')}` }),
    password: optional(text({ least: 1, most: 128 })).meta({ description: '1 to 128 characters.' }),
    burnAfterRead: z
      .boolean({ error: 'must be true or false' })
      .nullish()
      .transform((value) => value ?? false),
    customId: optional(
      z
        .string({ error: 'must be a text' })
        .regex(/^[a-zA-Z0-9_-]{4,32}$/, 'must be 4 to 32 characters of a-z, A-Z, 0-9, _ and -'),
    ),
  },
  { error: 'must be a JSON object' },
);

export const createdPaste = z.object({
  pasteId: z.string(),
  url: z.string().meta({ description: 'Where people read the paste.' }),
  rawUrl: z.string().meta({ description: 'The bare text.' }),
  deleteToken: z.string().meta({ description: 'Deletes the paste. Given out this once.' }),
  expiresAt: timestamp,
  hasPassword: z.boolean(),
  burnAfterRead: z.boolean(),
});

export const readPasteReply = z.object({
  pasteId: z.string(),
  title: z.string().nullable(),
  content: z.string(),
  language: z.string(),
  createdAt: timestamp,
  expiresAt: timestamp,
  viewCount: z.int().meta({ description: 'Includes this read.' }),
  burnAfterRead: z.boolean(),
  sizeBytes: z.int().meta({ description: 'Bytes of UTF-8.' }),
});

/** What the 403 of a protected paste says besides (paste-api.md, GET /pastes/:id). */
export const passwordRequired = { passwordRequired: z.literal(true) };

export const unlockBody = z.object(
  {
    password: z.string({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be a text') }),
  },
  { error: 'must be a JSON object' },
);

export const unlockedPaste = readPasteReply.extend({
  highlightedHtml: z
    .string()
    .meta({ description: 'Highlighted markup with inline styles, ready to be shown anywhere.' }),
});

export const deleteQuery = z.object({
  token: z
    .string({ error: (issue) => (issue.input === undefined ? 'is required' : 'must be given once') })
    .min(1, 'must not be empty')
    .meta({ description: 'The delete token.' }),
});

export const statisticsReply = z.object({
  totalPastes: z.int(),
  pastesToday: z.int().meta({ description: 'Since 00:00 UTC.' }),
  pastesThisWeek: z.int().meta({ description: 'Since Monday 00:00 UTC.' }),
  topLanguages: z
    .array(z.object({ language: z.string(), count: z.int() }))
    .meta({ description: 'At most 10, by count, then name.' }),
});

export const languagesReply = z.object({
  languages: z.array(z.object({ id: z.string(), name: z.string() })),
});
