// The paste API (paste-api.md), route by route.

import { createPaste } from '../../services/paste/create-paste.ts';
import { deletePaste } from '../../services/paste/delete-paste.ts';
import { languages } from '../../services/paste/languages.ts';
import type { PasteService } from '../../services/paste/paste-service.ts';
import { peekPaste, readPaste } from '../../services/paste/read-paste.ts';
import { pasteStatistics } from '../../services/paste/statistics.ts';
import { unlockPaste } from '../../services/paste/unlock-paste.ts';
import { defineRoute, type Route } from '../http/route.ts';
import { CREATE_BODY_LIMIT_BYTES, creationLimit, refuseLargeContent, unlockLimit } from './limits.ts';
import { representCreated, representPaste, representUnlocked } from './represent.ts';
import * as schema from './schemas.ts';
import { translatingPasteErrors } from './translate-errors.ts';

/** The routes under /api of the paste service. */
export function pasteApiRoutes(service: PasteService): Route[] {
  const { config } = service.platform;
  return [
    defineRoute({
      method: 'POST',
      path: '/pastes',
      operationId: 'createPaste',
      summary: 'Create a paste',
      description:
        'The delete token is given out this once. Only created pastes count towards the rate limit.',
      body: schema.createPasteBody,
      bodyLimitBytes: CREATE_BODY_LIMIT_BYTES,
      refuseTooLarge: refuseLargeContent,
      replies: { 201: { description: 'The paste was created.', schema: schema.createdPaste } },
      errors: ['CONFLICT'],
      limit: creationLimit(service.platform, 201),
      handler: async ({ body }) => {
        const created = await translatingPasteErrors(() => createPaste(service, body));
        const reply = representCreated(config, created);
        return { status: 201, body: reply, headers: { location: reply.url } };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/pastes/{id}',
      operationId: 'readPaste',
      summary: 'Read a paste',
      description:
        'Counts as a view. A burn-after-read paste is removed by the read and given to exactly one reader. A paste with a password answers 403 with `passwordRequired`.',
      params: schema.pasteIdParam,
      replies: { 200: { description: 'The paste.', schema: schema.readPasteReply } },
      errors: ['FORBIDDEN', 'NOT_FOUND'],
      errorMembers: { FORBIDDEN: schema.passwordRequired },
      handler: async ({ params, context }) => {
        const read = context.isHead ? peekPaste : readPaste;
        const paste = await translatingPasteErrors(() => read(service, params.id));
        return { status: 200, body: representPaste(paste) };
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/pastes/{id}/verify',
      operationId: 'verifyPaste',
      summary: 'Unlock a paste with its password',
      description:
        'Answers what a read answers, and the highlighted markup. Ten wrong passwords for a paste within 5 minutes end in 429.',
      params: schema.pasteIdParam,
      body: schema.unlockBody,
      replies: { 200: { description: 'The paste.', schema: schema.unlockedPaste } },
      errors: ['UNAUTHENTICATED', 'NOT_FOUND'],
      limit: unlockLimit,
      handler: async ({ params, body }) => {
        const paste = await translatingPasteErrors(() => unlockPaste(service, params.id, body.password));
        return { status: 200, body: await representUnlocked(service.highlighter, paste) };
      },
    }),
    defineRoute({
      method: 'DELETE',
      path: '/pastes/{id}',
      operationId: 'deletePaste',
      summary: 'Delete a paste',
      description: 'A wrong token and an unknown paste are one answer.',
      params: schema.pasteIdParam,
      query: schema.deleteQuery,
      replies: { 204: { description: 'The paste is gone.' } },
      errors: ['NOT_FOUND'],
      handler: async ({ params, query }) => {
        await translatingPasteErrors(() => deletePaste(service, params.id, query.token));
        return { status: 204 };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/stats',
      operationId: 'pasteStatistics',
      summary: 'Anonymous counts of what was created',
      replies: { 200: { description: 'The counts.', schema: schema.statisticsReply } },
      handler: async () => ({ status: 200, body: await pasteStatistics(service) }),
    }),
    defineRoute({
      method: 'GET',
      path: '/languages',
      operationId: 'listLanguages',
      summary: 'Supported languages',
      replies: { 200: { description: 'Every supported language.', schema: schema.languagesReply } },
      handler: async () => ({
        status: 200,
        body: { languages: [...languages()] },
        headers: { 'cache-control': 'public, max-age=3600' },
      }),
    }),
  ];
}
