// The pages of the paste service, the forms they post, and the raw form of a paste.
import { z } from 'zod';
import { createPaste } from '../../services/paste/create-paste.ts';
import { deletePaste } from '../../services/paste/delete-paste.ts';
import { languageName } from '../../services/paste/languages.ts';
import type { PasteService } from '../../services/paste/paste-service.ts';
import { peekPaste, previewPaste, readPaste } from '../../services/paste/read-paste.ts';
import { pasteStatistics } from '../../services/paste/statistics.ts';
import { unlockPaste } from '../../services/paste/unlock-paste.ts';
import { type FieldMessages, HttpError } from '../http/errors.ts';
import { defineRoute, type Route, type RouteReply } from '../http/route.ts';
import { CREATE_BODY_LIMIT_BYTES, creationLimit, refuseLargeContent, unlockLimit } from './limits.ts';
import { type CreateFormValues, createPage } from './pages/create-page.ts';
import { createdPage } from './pages/created-page.ts';
import { deletedPage, deletePage } from './pages/delete-page.ts';
import { burnPage, passwordPage } from './pages/gate-pages.ts';
import type { AssetUrl } from './pages/layout.ts';
import { statsPage } from './pages/stats-page.ts';
import { representCreated } from './represent.ts';
import { createPasteBody, pasteIdParam } from './schemas.ts';
import { showPaste, textBytes } from './show-paste.ts';
import { translatingPasteErrors } from './translate-errors.ts';

const HTML = 'text/html; charset=utf-8';
const FORM = 'application/x-www-form-urlencoded';
const page = { description: 'A page.', contentType: HTML };
const formFields = z.record(z.string(), z.string());

/** The routes of the site itself. */
export function pasteSiteRoutes(service: PasteService, assets: AssetUrl): Route[] {
  return [
    defineRoute({
      method: 'GET',
      path: '/',
      operationId: 'createPage',
      summary: 'The page that creates a paste',
      query: z.object({ from: z.string().optional().catch(undefined) }),
      replies: { 200: page },
      handler: async ({ query, context }) =>
        query.from === undefined || context.isHead
          ? composer(service, assets, 200, {}, {})
          : composerFrom(service, assets, query.from),
    }),
    defineRoute({
      method: 'POST',
      path: '/',
      operationId: 'createPasteByForm',
      summary: 'Create a paste from the form',
      body: formFields,
      bodyTypes: [FORM],
      bodyLimitBytes: CREATE_BODY_LIMIT_BYTES,
      refuseTooLarge: refuseLargeContent,
      replies: { 201: page, 400: page, 409: page },
      limit: creationLimit(service.platform, 201),
      handler: async ({ body }) => createFromForm(service, assets, body),
    }),
    defineRoute({
      method: 'GET',
      path: '/stats',
      operationId: 'statisticsPage',
      summary: 'The statistics as a page',
      replies: { 200: page },
      handler: async () => {
        const { topLanguages, ...counts } = await pasteStatistics(service);
        const named = topLanguages.map((entry) => ({ ...entry, languageName: languageName(entry.language) }));
        return { status: 200, body: statsPage({ assets, ...counts, topLanguages: named }) };
      },
    }),
    defineRoute({
      method: 'GET',
      path: '/{id}',
      operationId: 'viewPage',
      summary: 'A paste as a page',
      params: pasteIdParam,
      query: z.object({ lines: z.string().optional().catch(undefined) }),
      replies: { 200: page },
      handler: async ({ params, query, context }) => {
        const preview = await translatingPasteErrors(() => previewPaste(service, params.id));
        const now = new Date(service.platform.clock.now());
        if (preview.hasPassword)
          return { status: 200, body: passwordPage({ assets, ...preview, lines: query.lines }) };
        // Link previews fetch what people share: only a click may burn (contract, section 3).
        if (preview.burnAfterRead)
          return { status: 200, body: burnPage({ assets, ...preview, now, lines: query.lines }) };
        const read = context.isHead ? peekPaste : readPaste;
        const paste = await translatingPasteErrors(() => read(service, params.id));
        return showPaste(service, assets, paste, { lines: query.lines, hasPassword: false });
      },
    }),
    defineRoute({
      method: 'POST',
      path: '/{id}',
      operationId: 'openPasteByForm',
      summary: 'Open a protected or burn-after-read paste from its form',
      params: pasteIdParam,
      body: formFields,
      bodyTypes: [FORM],
      replies: { 200: page, 401: page },
      limit: unlockLimit,
      handler: async ({ params, body }) => openByForm(service, assets, params.id, body),
    }),
    defineRoute({
      method: 'GET',
      path: '/{id}/delete',
      operationId: 'deletePage',
      summary: 'The page that deletes a paste',
      params: pasteIdParam,
      replies: { 200: page },
      handler: async ({ params }) => ({ status: 200, body: deletePage({ assets, pasteId: params.id }) }),
    }),
    defineRoute({
      method: 'POST',
      path: '/{id}/delete',
      operationId: 'deletePasteByForm',
      summary: 'Delete a paste from the form',
      params: pasteIdParam,
      body: formFields,
      bodyTypes: [FORM],
      replies: { 200: page, 404: page },
      handler: async ({ params, body }) => {
        const token = (body.token ?? '').trim();
        const error = await refusal(() => deletePaste(service, params.id, token));
        if (!error) return { status: 200, body: deletedPage({ assets, pasteId: params.id }) };
        if (error.code !== 'NOT_FOUND') throw error;
        const message = 'The paste is already gone, or this is not its delete token.';
        return { status: 404, body: deletePage({ assets, pasteId: params.id, token, error: message }) };
      },
    }),
  ];
}

async function composerFrom(service: PasteService, assets: AssetUrl, pasteId: string): Promise<RouteReply> {
  const isId = pasteIdParam.safeParse({ id: pasteId }).success;
  const preview = isId ? await translatingPasteErrors(() => previewPaste(service, pasteId)) : undefined;
  if (!preview || preview.hasPassword || preview.burnAfterRead) return composer(service, assets, 200, {}, {});
  const { content, title, language } = await translatingPasteErrors(() => readPaste(service, pasteId));
  return composer(service, assets, 200, { content, language, title: title ?? '' }, {});
}

async function createFromForm(
  service: PasteService,
  assets: AssetUrl,
  fields: Record<string, string>,
): Promise<RouteReply> {
  // A browser sends every field of a form; an empty one is one that was not set.
  const set = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== ''));
  const parsed = createPasteBody.safeParse({ ...set, burnAfterRead: fields.burnAfterRead === 'true' });
  if (!parsed.success)
    return composer(service, assets, 400, fields, z.flattenError(parsed.error).fieldErrors);
  const { title } = parsed.data;
  let created: Awaited<ReturnType<typeof createPaste>> | undefined;
  const error = await refusal(async () => {
    created = await createPaste(service, parsed.data);
  });
  if (error) {
    if (error.code !== 'CONFLICT' && error.code !== 'BAD_REQUEST') throw error;
    return composer(
      service,
      assets,
      error.statusCode,
      fields,
      error.details ?? { customId: [error.message] },
    );
  }
  if (!created) throw new Error('a paste was neither created nor refused');
  const { url, rawUrl } = representCreated(service.platform.config, created);
  const { toString: drawQr } = await import('qrcode');
  const qrSvg = await drawQr(url, { type: 'svg', margin: 2 });
  const now = new Date(service.platform.clock.now());
  return { status: 201, body: createdPage({ assets, ...created, title, url, rawUrl, qrSvg, now }) };
}

async function composer(
  service: PasteService,
  assets: AssetUrl,
  status: number,
  fields: Record<string, string>,
  errors: FieldMessages,
): Promise<RouteReply> {
  const { content = '', burnAfterRead, ...rest } = fields;
  const values: Partial<CreateFormValues> = { ...rest, burnAfterRead: burnAfterRead === 'true' };
  const { head, tail } = createPage({ assets, values, errors });
  const body = [textBytes(head), await service.highlighter.renderText(content), textBytes(tail)];
  return { status, body, headers: { 'content-type': HTML } };
}

async function openByForm(
  service: PasteService,
  assets: AssetUrl,
  pasteId: string,
  { password, lines }: Record<string, string>,
): Promise<RouteReply> {
  const preview = await translatingPasteErrors(() => previewPaste(service, pasteId));
  try {
    const paste = await translatingPasteErrors(() => unlockPaste(service, pasteId, password ?? ''));
    return await showPaste(service, assets, paste, { lines, hasPassword: preview.hasPassword });
  } catch (error) {
    if (!(error instanceof HttpError) || error.code !== 'UNAUTHENTICATED') throw error;
    return { status: 401, body: passwordPage({ assets, ...preview, lines, error: error.message }) };
  }
}

async function refusal(work: () => Promise<void>): Promise<HttpError | undefined> {
  try {
    await translatingPasteErrors(work);
    return undefined;
  } catch (error) {
    if (error instanceof HttpError) return error;
    throw error;
  }
}
