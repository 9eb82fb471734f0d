// Who asks, and from where: the session cookie, and the origin of a request that changes something.
import type { Config } from '../../platform/config/config.ts';
import type { Principal } from '../../services/kanban/accounts/session-cache.ts';
import { findPrincipal, SESSION_LIFETIME_MS } from '../../services/kanban/accounts/sessions.ts';
import type { KanbanService } from '../../services/kanban/kanban-service.ts';
import { HttpError } from '../http/errors.ts';
import type { RequestContext } from '../http/route.ts';

const COOKIE = 'svc_session';
const ATTRIBUTES = 'Path=/api; HttpOnly; Secure; SameSite=Strict';
const SAFE_METHODS = new Set(['GET', 'HEAD', 'OPTIONS']);

/** The header that hands a session to a browser. */
export function sessionCookie(token: string): string {
  return `${COOKIE}=${token}; ${ATTRIBUTES}; Max-Age=${SESSION_LIFETIME_MS / 1000}`;
}

/** The header that takes it back. */
export const noSessionCookie = `${COOKIE}=; ${ATTRIBUTES}; Max-Age=0`;

/** Lets who is signed in through: 401, then 403 for a foreign origin (order of refusals). */
export function requireSession(service: KanbanService): (context: RequestContext) => Promise<Principal> {
  return async (context) => {
    const token = tokenIn(context.headers.cookie);
    const principal = token === undefined ? undefined : await findPrincipal(service, token);
    if (!principal) throw new HttpError('UNAUTHENTICATED', 'Sign in first.');
    refuseForeignOrigin(service.platform.config, context);
    return principal;
  };
}

/** Lets everybody through but a page of another site. */
export function requireOrigin(service: KanbanService): (context: RequestContext) => Promise<undefined> {
  return async (context) => {
    refuseForeignOrigin(service.platform.config, context);
    return undefined;
  };
}

function refuseForeignOrigin({ kanban }: Config, { method, headers }: RequestContext): void {
  const { origin, host } = headers;
  if (SAFE_METHODS.has(method) || origin === undefined) return;
  const accepted = [new URL(kanban.url).origin, `http://${String(host)}`, `https://${String(host)}`];
  if (typeof origin === 'string' && accepted.includes(origin)) return;
  throw new HttpError('FORBIDDEN', 'Requests that change something come from this site only.');
}

function tokenIn(cookies: string | string[] | undefined): string | undefined {
  const header = Array.isArray(cookies) ? cookies.join('; ') : cookies;
  for (const pair of header?.split(';') ?? []) {
    const [name, value] = pair.trim().split('=', 2);
    if (name === COOKIE && value) return value;
  }
  return undefined;
}
