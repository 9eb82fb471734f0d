// Workspaces, their members and keys, and their boards.
import { z } from 'zod';
import { createBoard, listBoards } from '../../services/kanban/boards/boards.ts';
import type { KanbanService } from '../../services/kanban/kanban-service.ts';
import {
  changeRole,
  inviteMember,
  listMembers,
  removeMember,
} from '../../services/kanban/workspaces/members.ts';
import { rotateKeys } from '../../services/kanban/workspaces/rotate-keys.ts';
import {
  changeWorkspace,
  createWorkspace,
  deleteWorkspace,
  listWorkspaces,
  readWorkspace,
} from '../../services/kanban/workspaces/workspaces.ts';
import type { Route } from '../http/route.ts';
import {
  archivedQuery,
  body,
  encrypted,
  id,
  idParam,
  LONG_BODY_LIMIT,
  LONG_FIELD_LIMIT,
  oneOf,
  pageQuery,
} from './fields.ts';
import { signedIn } from './routes.ts';
import * as schema from './schemas.ts';

const memberParams = z.object({ id, userId: id });
const workspaceParam = z.object({ wsId: id });
// Keys of a thousand boards with ten epochs each.
const ROTATION_BODY_LIMIT = 16 * 1024 * 1024;
const epoch = z.int({ error: 'must be a whole number' }).min(1).max(1_000_000);
const keyEpoch = epoch.optional().meta({
  description:
    '`keyEpoch` of the workspace whose key was used; when it is not the current one any more: 409, read the workspace again.',
});

/** The routes under /api/workspaces. */
export function workspaceRoutes(service: KanbanService): Route[] {
  return [
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/workspaces',
      operationId: 'listWorkspaces',
      summary: 'List own workspaces',
      query: pageQuery(),
      replies: { 200: { description: 'A page.', schema: schema.pages.workspaces } },
      handler: async ({ principal, query }) => ({
        status: 200,
        body: await listWorkspaces(service, principal.accountId, query),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/workspaces',
      operationId: 'createWorkspace',
      summary: 'Create a workspace',
      body: body({
        encName: encrypted(),
        encWorkspaceKey: encrypted().meta({ description: 'Sealed for the creator.' }),
      }),
      replies: { 201: { description: 'The workspace.', schema: schema.workspace } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, body: input }) => ({
        status: 201,
        body: await createWorkspace(service, principal.accountId, input),
      }),
    }),
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/workspaces/{id}',
      operationId: 'readWorkspace',
      summary: 'Read a workspace',
      params: idParam,
      replies: { 200: { description: 'The workspace.', schema: schema.workspace } },
      handler: async ({ principal, params }) => ({
        status: 200,
        body: await readWorkspace(service, principal.accountId, params.id),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'PATCH',
      path: '/workspaces/{id}',
      operationId: 'changeWorkspace',
      summary: 'Rename a workspace',
      description: 'Admins and owners.',
      params: idParam,
      body: body({ encName: encrypted().optional() }),
      replies: { 200: { description: 'The workspace.', schema: schema.workspace } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: input }) => ({
        status: 200,
        body: await changeWorkspace(service, principal.accountId, params.id, input),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'DELETE',
      path: '/workspaces/{id}',
      operationId: 'deleteWorkspace',
      summary: 'Delete a workspace with its boards',
      description: 'Owners.',
      params: idParam,
      replies: { 204: { description: 'It is gone.' } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params }) => {
        await deleteWorkspace(service, principal.accountId, params.id);
        return { status: 204 };
      },
    }),
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/workspaces/{id}/members',
      operationId: 'listMembers',
      summary: 'List members',
      params: idParam,
      query: pageQuery(),
      replies: { 200: { description: 'A page.', schema: schema.pages.members } },
      handler: async ({ principal, params, query }) => ({
        status: 200,
        body: await listMembers(service, principal.accountId, params.id, query),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/workspaces/{id}/members',
      operationId: 'inviteMember',
      summary: 'Add a member',
      description: 'Admins and owners. The workspace key is sealed for the invitee.',
      params: idParam,
      body: body({ userId: id, encWorkspaceKey: encrypted(), keyEpoch }),
      replies: { 201: { description: 'The member.', schema: schema.member } },
      errors: ['FORBIDDEN', 'CONFLICT'],
      handler: async ({ principal, params, body: input }) => ({
        status: 201,
        body: await inviteMember(service, principal.accountId, params.id, input),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'PATCH',
      path: '/workspaces/{id}/members/{userId}',
      operationId: 'changeRole',
      summary: 'Change the role of a member',
      description: 'Owners. A workspace has at least one owner.',
      params: memberParams,
      body: body({ role: oneOf(['owner', 'admin', 'member']) }),
      replies: { 200: { description: 'The member.', schema: schema.member } },
      errors: ['FORBIDDEN', 'CONFLICT'],
      handler: async ({ principal, params, body: { role } }) => ({
        status: 200,
        body: await changeRole(service, principal.accountId, params.id, { userId: params.userId, role }),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'DELETE',
      path: '/workspaces/{id}/members/{userId}',
      operationId: 'removeMember',
      summary: 'Remove a member, or leave',
      description: 'Admins and owners; oneself, anybody. The keys are due for rotation then.',
      params: memberParams,
      replies: { 204: { description: 'They are no member any more.' } },
      errors: ['FORBIDDEN', 'CONFLICT'],
      handler: async ({ principal, params }) => {
        await removeMember(service, principal.accountId, params.id, params.userId);
        return { status: 204 };
      },
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/workspaces/{id}/keys',
      operationId: 'rotateKeys',
      summary: 'Replace the keys of a workspace',
      description:
        'Admins and owners. All in one transaction, `encName` too: `epoch` is the current one plus one; members, boards and the epochs of their keys are exactly those that exist, and a board may get a key of the new epoch.',
      params: idParam,
      bodyLimitBytes: ROTATION_BODY_LIMIT,
      body: body({
        epoch,
        encName: encrypted()
          .optional()
          .meta({ description: 'The name under the new key; the old one stays when left out.' }),
        members: z.array(z.object({ userId: id, encWorkspaceKey: encrypted() })).max(1000),
        boards: z
          .array(
            z.object({
              boardId: id,
              encBoardKeys: z.array(z.object({ epoch, encBoardKey: encrypted() })).max(1000),
            }),
          )
          .max(10_000),
      }),
      replies: { 200: { description: 'The workspace.', schema: schema.workspace } },
      errors: ['FORBIDDEN', 'CONFLICT'],
      handler: async ({ principal, params, body: input }) => ({
        status: 200,
        body: await rotateKeys(service, principal.accountId, params.id, input),
      }),
    }),
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/workspaces/{wsId}/boards',
      operationId: 'listBoards',
      summary: 'List the boards of a workspace',
      params: workspaceParam,
      query: archivedQuery(),
      replies: { 200: { description: 'A page.', schema: schema.pages.boards } },
      handler: async ({ principal, params, query: { archived, ...page } }) => ({
        status: 200,
        body: await listBoards(service, principal.accountId, params.wsId, {
          ...page,
          withArchived: archived === '1',
        }),
      }),
    }),
    signedIn(service, 'mutations', {
      method: 'POST',
      path: '/workspaces/{wsId}/boards',
      operationId: 'createBoard',
      summary: 'Create a board',
      params: workspaceParam,
      bodyLimitBytes: LONG_BODY_LIMIT,
      body: body({
        encName: encrypted(),
        encDescription: encrypted(LONG_FIELD_LIMIT).nullish(),
        encBoardKey: encrypted().meta({ description: 'Under the workspace key.' }),
        keyEpoch,
      }),
      replies: { 201: { description: 'The board.', schema: schema.board } },
      errors: ['FORBIDDEN', 'CONFLICT'],
      handler: async ({ principal, params, body: input }) => ({
        status: 201,
        body: await createBoard(service, principal.accountId, params.wsId, input),
      }),
    }),
  ];
}
