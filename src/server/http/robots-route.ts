// Pastes and links are for those who have their address: search engines are asked to stay out.
import { defineRoute, type Route } from './route.ts';

/** `/robots.txt` (RFC 9309). */
export function robotsRoute(): Route {
  return defineRoute({
    method: 'GET',
    path: '/robots.txt',
    operationId: 'robots',
    summary: 'What crawlers may fetch',
    replies: { 200: { description: 'The rules.', contentType: 'text/plain; charset=utf-8' } },
    handler: async () => ({
      status: 200,
      body: 'User-agent: *\nAllow: /$\nDisallow: /\n',
      headers: { 'cache-control': 'public, max-age=86400' },
    }),
  });
}
