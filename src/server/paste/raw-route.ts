// `/raw/<id>`: the bare text, for programs and for downloads. A read like any other.
import { z } from 'zod';
import type { PasteService } from '../../services/paste/paste-service.ts';
import { peekPaste, readPaste } from '../../services/paste/read-paste.ts';
import type { ReadPaste } from '../../services/paste/stored-paste.ts';
import { peekLockedPaste, unlockPaste } from '../../services/paste/unlock-paste.ts';
import { badRequest } from '../http/errors.ts';
import { defineRoute, type RequestContext, type Route } from '../http/route.ts';
import { SANDBOX_POLICY } from '../http/security-headers.ts';
import { unlockLimit } from './limits.ts';
import { passwordRequired, pasteIdParam } from './schemas.ts';
import { translatingPasteErrors } from './translate-errors.ts';

const PASSWORD_HEADER = 'x-paste-password';

/** The raw form of pastes (contract, section 3). */
export function rawRoute(service: PasteService): Route {
  return defineRoute({
    method: 'GET',
    path: '/raw/{id}',
    operationId: 'rawPaste',
    summary: 'The bare text of a paste',
    params: pasteIdParam,
    query: z.object({ download: z.string().optional().catch(undefined) }),
    requestHeaders: { 'X-Paste-Password': 'Password of a protected paste, as percent-encoded UTF-8.' },
    replies: { 200: { description: 'The text.', contentType: 'text/plain; charset=utf-8' } },
    errors: ['UNAUTHENTICATED', 'FORBIDDEN', 'NOT_FOUND'],
    errorMembers: { FORBIDDEN: passwordRequired },
    limit: { ...unlockLimit, concerns: (headers) => headers[PASSWORD_HEADER] !== undefined },
    handler: async ({ params, query, context }) => {
      const { content } = await translatingPasteErrors(() => read(service, params.id, context));
      const attachment = { 'content-disposition': `attachment; filename="${params.id}.txt"` };
      return {
        status: 200,
        body: content,
        headers: {
          'content-security-policy': SANDBOX_POLICY,
          ...(query.download !== undefined && attachment),
        },
      };
    },
  });
}

function read(service: PasteService, pasteId: string, context: RequestContext): Promise<ReadPaste> {
  const password = passwordIn(context);
  if (password === undefined) return (context.isHead ? peekPaste : readPaste)(service, pasteId);
  return (context.isHead ? peekLockedPaste : unlockPaste)(service, pasteId, password);
}

function passwordIn({ headers }: RequestContext): string | undefined {
  const value = headers[PASSWORD_HEADER];
  if (typeof value !== 'string') return undefined;
  try {
    return decodeURIComponent(value);
  } catch {
    throw badRequest({ 'X-Paste-Password': ['must be percent-encoded UTF-8'] });
  }
}
