// Boards themselves, and what happened on them.

import { listActivity } from '../../services/kanban/boards/activity.ts';
import { changeBoardItself, deleteBoard, readBoard } from '../../services/kanban/boards/boards.ts';
import type { KanbanService } from '../../services/kanban/kanban-service.ts';
import type { Route } from '../http/route.ts';
import { body, encrypted, flag, idParam, LONG_BODY_LIMIT, LONG_FIELD_LIMIT, pageQuery } from './fields.ts';
import { signedIn } from './routes.ts';
import * as schema from './schemas.ts';

/** The routes of a board itself. */
export function boardRoutes(service: KanbanService): Route[] {
  return [
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/boards/{id}',
      operationId: 'readBoard',
      summary: 'Read a board with columns, labels, milestones, custom fields and members',
      params: idParam,
      replies: { 200: { description: 'The board.', schema: schema.boardWithContent } },
      handler: async ({ principal, params }) => ({
        status: 200,
        body: await readBoard(service, principal.accountId, params.id),
      }),
    }),
    signedIn(service, 'mutations', {
      method: 'PATCH',
      path: '/boards/{id}',
      operationId: 'changeBoard',
      summary: 'Change a board',
      params: idParam,
      bodyLimitBytes: LONG_BODY_LIMIT,
      body: body({
        encName: encrypted().optional(),
        encDescription: encrypted(LONG_FIELD_LIMIT).nullish(),
        archived: flag.optional(),
      }),
      replies: { 200: { description: 'The board.', schema: schema.board } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: input }) => ({
        status: 200,
        body: await changeBoardItself(service, principal.accountId, params.id, input),
      }),
    }),
    signedIn(service, 'mutations', {
      method: 'DELETE',
      path: '/boards/{id}',
      operationId: 'deleteBoard',
      summary: 'Delete a board with all that is on it',
      description: 'Admins and owners.',
      params: idParam,
      replies: { 204: { description: 'It is gone.' } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params }) => {
        await deleteBoard(service, principal.accountId, params.id);
        return { status: 204 };
      },
    }),
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/boards/{id}/activity',
      operationId: 'listActivity',
      summary: 'What happened on a board, newest first',
      description: 'Metadata only. `seq` has no gaps.',
      params: idParam,
      query: pageQuery(),
      replies: { 200: { description: 'A page.', schema: schema.pages.activity } },
      handler: async ({ principal, params, query }) => ({
        status: 200,
        body: await listActivity(service, principal.accountId, params.id, query),
      }),
    }),
  ];
}
