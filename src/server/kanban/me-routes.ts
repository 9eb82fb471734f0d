// Self (kanban-api.md), and finding others to invite.
import { z } from 'zod';
import { deleteAccount } from '../../services/kanban/accounts/delete-account.ts';
import { exportAccount } from '../../services/kanban/accounts/export-account.ts';
import { lookUpUser, readMe } from '../../services/kanban/accounts/me.ts';
import { endSession, listSessions } from '../../services/kanban/accounts/sessions.ts';
import type { KanbanService } from '../../services/kanban/kanban-service.ts';
import { listNotifications, markRead } from '../../services/kanban/notifications.ts';
import { timestamp } from '../http/fields.ts';
import type { Route } from '../http/route.ts';
import { body, id, idParam, pageQuery } from './fields.ts';
import { noSessionCookie } from './guards.ts';
import { attemptsLimit, signedIn } from './routes.ts';
import * as schema from './schemas.ts';

/** The routes under /api/me and /api/users. */
export function meRoutes(service: KanbanService): Route[] {
  const { kanban } = service.platform.config;
  return [
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/me',
      operationId: 'readMe',
      summary: 'The current user with workspace memberships',
      replies: {
        200: {
          description: 'You.',
          schema: z.object({ user: schema.user, memberships: z.array(schema.membership) }),
        },
      },
      handler: async ({ principal }) => ({ status: 200, body: await readMe(service, principal.accountId) }),
    }),
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/me/export',
      operationId: 'exportMe',
      summary: 'Everything you can read, as it is stored',
      description:
        'Streamed: account, sessions, credentials and memberships, notifications, and every workspace with its boards. No secrets.',
      replies: { 200: { description: 'The export.', contentType: 'application/json; charset=utf-8' } },
      handler: async ({ principal }) => ({
        status: 200,
        body: exportAccount(service, principal),
        headers: { 'content-disposition': 'attachment; filename="export.json"' },
      }),
    }),
    signedIn(service, 'writes', {
      method: 'DELETE',
      path: '/me',
      operationId: 'deleteMe',
      summary: 'Delete the account',
      description:
        'Its keys are shredded at once, in one transaction; its rows go after 30 days. There is no way back.',
      replies: {
        202: {
          description: 'It can do nothing any more.',
          schema: z.object({ deletedAt: timestamp, purgeAfter: timestamp }),
        },
      },
      errors: ['FORBIDDEN'],
      handler: async ({ principal }) => ({
        status: 202,
        body: await deleteAccount(service, principal.accountId),
        headers: { 'set-cookie': noSessionCookie },
      }),
    }),
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/me/notifications',
      operationId: 'listNotifications',
      summary: 'Assignments and mentions, newest first',
      query: pageQuery(),
      replies: { 200: { description: 'A page.', schema: schema.pages.notifications } },
      handler: async ({ principal, query }) => ({
        status: 200,
        body: await listNotifications(service, principal.accountId, query),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/me/notifications/read',
      operationId: 'readNotifications',
      summary: 'Mark notifications as read',
      body: body({
        ids: z.array(id).max(1000).optional().meta({ description: 'All unread ones, when left out.' }),
      }),
      replies: { 200: { description: 'How many were unread.', schema: z.object({ read: z.int() }) } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, body: { ids } }) => ({
        status: 200,
        body: { read: await markRead(service, principal.accountId, ids) },
      }),
    }),
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/me/sessions',
      operationId: 'listSessions',
      summary: 'Where you are signed in, newest first',
      query: pageQuery(),
      replies: { 200: { description: 'A page.', schema: schema.pages.sessions } },
      handler: async ({ principal, query }) => ({
        status: 200,
        body: await listSessions(service, principal, query),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'DELETE',
      path: '/me/sessions/{id}',
      operationId: 'endSession',
      summary: 'End a session',
      params: idParam,
      replies: { 204: { description: 'It is over.' } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params }) => {
        await endSession(service, principal.accountId, params.id);
        return { status: 204 };
      },
    }),
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/users/lookup',
      operationId: 'lookUpUser',
      summary: 'Find somebody by their address, to invite them',
      query: z.object({ email: z.email({ error: 'must be an email address' }).max(254) }),
      replies: { 200: { description: 'The user.', schema: schema.foundUser } },
      errors: ['NOT_FOUND'],
      limit: attemptsLimit({ name: 'kanban-lookup', limit: kanban.loginPerMinute, windowMs: 60_000 }),
      handler: async ({ query }) => ({ status: 200, body: await lookUpUser(service, query.email) }),
    }),
  ];
}
