// `/api/openapi.json` and the reference page at `/api/docs`: made once, from the routes themselves.
import { createHash } from 'node:crypto';
import { matchesEtag } from './assets.ts';
import { docsPage } from './docs-page.ts';
import { type DocumentedService, openApiDocument } from './openapi.ts';
import { defineRoute, type RequestContext, type Route, type RouteReply } from './route.ts';

/** The two routes that describe a service. */
export function documentationRoutes(service: DocumentedService, styleSheetUrl: string): Route[] {
  let made: { json: Page; html: Page } | undefined;
  // Made at the first request: a start should not wait for what few ask for.
  const pages = () => {
    if (made) return made;
    const document = openApiDocument(service);
    made = { json: page(JSON.stringify(document, null, 2)), html: page(docsPage(document, styleSheetUrl)) };
    return made;
  };
  return [
    defineRoute({
      method: 'GET',
      path: '/openapi.json',
      operationId: 'openApiDocument',
      summary: 'This API as an OpenAPI 3.1 document',
      replies: { 200: { description: 'The document.', contentType: 'application/json; charset=utf-8' } },
      handler: async ({ context }) => conditional(pages().json, context),
    }),
    defineRoute({
      method: 'GET',
      path: '/docs',
      operationId: 'apiReference',
      summary: 'This API as a page',
      replies: { 200: { description: 'The page.', contentType: 'text/html; charset=utf-8' } },
      handler: async ({ context }) => conditional(pages().html, context),
    }),
  ];
}

interface Page {
  body: string;
  etag: string;
}

function page(body: string): Page {
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url').slice(0, 16)}"` };
}

function conditional({ body, etag }: Page, context: RequestContext): RouteReply {
  const headers = { etag, 'cache-control': 'no-cache' };
  if (matchesEtag(context.headers['if-none-match'], etag)) return { status: 304, headers };
  return { status: 200, body, headers };
}
