// What hangs on cards: comments, checklists with their items, attachments.
import { z } from 'zod';
import { listObjects } from '../../services/kanban/boards/list-objects.ts';
import { changePlaced, createPlaced, deletePlaced } from '../../services/kanban/boards/placed-things.ts';
import {
  addAttachment,
  deleteAttachment,
  listAttachments,
  readAttachment,
} from '../../services/kanban/cards/attachments.ts';
import { listChecklists, readChecklist } from '../../services/kanban/cards/checklists.ts';
import { changeComment, createComment, deleteComment } from '../../services/kanban/cards/comments.ts';
import type { KanbanService } from '../../services/kanban/kanban-service.ts';
import { HttpError } from '../http/errors.ts';
import type { Route } from '../http/route.ts';
import { body, encrypted, flag, id, idParam, moment, only, pageQuery } from './fields.ts';
import { signedIn } from './routes.ts';
import * as schema from './schemas.ts';

const MOST_MENTIONS = 100;
// What stands around the content of an attachment in its body, and around the ciphertext in the content.
const AROUND_CONTENT = 131_072;
const AROUND_CIPHERTEXT = 128;

const mentions = z
  .array(id, { error: 'must be a list' })
  .max(MOST_MENTIONS, `must name at most ${MOST_MENTIONS}`)
  .optional()
  .meta({ description: 'Members who are told.' });

const itemFields = { assigneeId: id.nullish(), dueAt: moment.nullish() };
const itemPlaces = { beforeItemId: id.nullish(), afterItemId: id.nullish() };
const checklistPlaces = { beforeChecklistId: id.nullish(), afterChecklistId: id.nullish() };

/** The routes of what hangs on cards. */
export function cardContentRoutes(service: KanbanService): Route[] {
  return [...comments(service), ...checklists(service), ...checklistItems(service), ...attachments(service)];
}

function comments(service: KanbanService): Route[] {
  return [
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/cards/{id}/comments',
      operationId: 'listComments',
      summary: 'List the comments of a card, oldest first',
      params: idParam,
      query: pageQuery(),
      replies: { 200: { description: 'A page.', schema: schema.pages.comments } },
      handler: async ({ principal, params, query }) => ({
        status: 200,
        body: await listObjects(service, principal.accountId, 'comment', {
          ...query,
          of: { kind: 'card', id: params.id, column: 'cardId' },
        }),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/cards/{id}/comments',
      operationId: 'createComment',
      summary: 'Write a comment',
      params: idParam,
      body: body({ encBody: encrypted(), mentions }),
      replies: { 201: { description: 'The comment.', schema: schema.comment } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: input }) => ({
        status: 201,
        body: only(schema.comment, await createComment(service, principal.accountId, params.id, input)),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'PATCH',
      path: '/comments/{id}',
      operationId: 'changeComment',
      summary: 'Change a comment',
      description: 'Its author.',
      params: idParam,
      body: body({ encBody: encrypted().optional(), mentions }),
      replies: { 200: { description: 'The comment.', schema: schema.comment } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: input }) => ({
        status: 200,
        body: only(schema.comment, await changeComment(service, principal.accountId, params.id, input)),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'DELETE',
      path: '/comments/{id}',
      operationId: 'deleteComment',
      summary: 'Delete a comment',
      description: 'Its author, or an admin.',
      params: idParam,
      replies: { 204: { description: 'It is gone.' } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params }) => {
        await deleteComment(service, principal.accountId, params.id);
        return { status: 204 };
      },
    }),
  ];
}

function checklists(service: KanbanService): Route[] {
  return [
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/cards/{id}/checklists',
      operationId: 'listChecklists',
      summary: 'List the checklists of a card with their items',
      params: idParam,
      query: pageQuery(),
      replies: { 200: { description: 'A page.', schema: schema.pages.checklists } },
      handler: async ({ principal, params, query }) => ({
        status: 200,
        body: await listChecklists(service, principal.accountId, params.id, query),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/cards/{id}/checklists',
      operationId: 'createChecklist',
      summary: 'Create a checklist',
      params: idParam,
      body: body({ encTitle: encrypted(), ...checklistPlaces }),
      replies: { 201: { description: 'The checklist.', schema: schema.checklist } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: { beforeChecklistId, afterChecklistId, ...values } }) => {
        const placing = { beforeId: beforeChecklistId, afterId: afterChecklistId, values };
        const row = await createPlaced(service, principal.accountId, 'checklist', params.id, placing);
        return { status: 201, body: only(schema.checklist, { ...row, items: [] }) };
      },
    }),
    signedIn(service, 'writes', {
      method: 'PATCH',
      path: '/checklists/{id}',
      operationId: 'changeChecklist',
      summary: 'Change a checklist',
      params: idParam,
      body: body({ encTitle: encrypted().optional(), ...checklistPlaces }),
      replies: { 200: { description: 'The checklist.', schema: schema.checklist } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: { beforeChecklistId, afterChecklistId, ...values } }) => {
        const placing = { beforeId: beforeChecklistId, afterId: afterChecklistId, values };
        const target = { kind: 'checklist', id: params.id } as const;
        await changePlaced(service, principal.accountId, target, placing);
        return { status: 200, body: await readChecklist(service, principal.accountId, params.id) };
      },
    }),
    signedIn(service, 'writes', {
      method: 'DELETE',
      path: '/checklists/{id}',
      operationId: 'deleteChecklist',
      summary: 'Delete a checklist with its items',
      params: idParam,
      replies: { 204: { description: 'It is gone.' } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params }) => {
        await deletePlaced(service, principal.accountId, { kind: 'checklist', id: params.id });
        return { status: 204 };
      },
    }),
  ];
}

function checklistItems(service: KanbanService): Route[] {
  return [
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/checklists/{id}/items',
      operationId: 'createChecklistItem',
      summary: 'Create an item of a checklist',
      params: idParam,
      body: body({ encText: encrypted(), done: flag.optional(), ...itemFields, ...itemPlaces }),
      replies: { 201: { description: 'The item.', schema: schema.checklistItem } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: { beforeItemId, afterItemId, ...values } }) => {
        const placing = { beforeId: beforeItemId, afterId: afterItemId, values };
        const row = await createPlaced(service, principal.accountId, 'checklistItem', params.id, placing);
        return { status: 201, body: only(schema.checklistItem, row) };
      },
    }),
    signedIn(service, 'writes', {
      method: 'PATCH',
      path: '/checklist-items/{id}',
      operationId: 'changeChecklistItem',
      summary: 'Change an item of a checklist',
      params: idParam,
      body: body({ encText: encrypted().optional(), done: flag.optional(), ...itemFields, ...itemPlaces }),
      replies: { 200: { description: 'The item.', schema: schema.checklistItem } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: { beforeItemId, afterItemId, ...values } }) => {
        const placing = { beforeId: beforeItemId, afterId: afterItemId, values };
        const target = { kind: 'checklistItem', id: params.id } as const;
        const row = await changePlaced(service, principal.accountId, target, placing);
        return { status: 200, body: only(schema.checklistItem, row) };
      },
    }),
    signedIn(service, 'writes', {
      method: 'DELETE',
      path: '/checklist-items/{id}',
      operationId: 'deleteChecklistItem',
      summary: 'Delete an item of a checklist',
      params: idParam,
      replies: { 204: { description: 'It is gone.' } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params }) => {
        await deletePlaced(service, principal.accountId, { kind: 'checklistItem', id: params.id });
        return { status: 204 };
      },
    }),
  ];
}

function attachments(service: KanbanService): Route[] {
  const most = service.platform.config.kanban.attachmentMaxBytes;
  const mostCharacters = Math.ceil((most * 4) / 3) + AROUND_CIPHERTEXT;
  return [
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/cards/{id}/attachments',
      operationId: 'listAttachments',
      summary: 'List the attachments of a card, without their content',
      params: idParam,
      query: pageQuery(),
      replies: { 200: { description: 'A page.', schema: schema.pages.attachments } },
      handler: async ({ principal, params, query }) => ({
        status: 200,
        body: await listAttachments(service, principal.accountId, params.id, query),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/cards/{id}/attachments',
      operationId: 'addAttachment',
      summary: 'Upload an attachment',
      description: `At most ${most} bytes of ciphertext.`,
      params: idParam,
      bodyLimitBytes: mostCharacters + AROUND_CONTENT,
      refuseTooLarge: (input) => refuseLargeContent(input, mostCharacters),
      body: body({ encName: encrypted(), encContent: encrypted(mostCharacters) }),
      replies: { 201: { description: 'The attachment.', schema: schema.attachment } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: input }) => ({
        status: 201,
        body: only(schema.attachment, await addAttachment(service, principal.accountId, params.id, input)),
      }),
    }),
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/attachments/{id}',
      operationId: 'readAttachment',
      summary: 'Read an attachment with its content',
      params: idParam,
      replies: { 200: { description: 'The attachment.', schema: schema.attachmentWithContent } },
      handler: async ({ principal, params }) => ({
        status: 200,
        body: only(
          schema.attachmentWithContent,
          await readAttachment(service, principal.accountId, params.id),
        ),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'DELETE',
      path: '/attachments/{id}',
      operationId: 'deleteAttachment',
      summary: 'Delete an attachment',
      params: idParam,
      replies: { 204: { description: 'It is gone.' } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params }) => {
        await deleteAttachment(service, principal.accountId, params.id);
        return { status: 204 };
      },
    }),
  ];
}

function refuseLargeContent(input: unknown, mostCharacters: number): void {
  if (typeof input !== 'object' || input === null || !('encContent' in input)) return;
  const { encContent } = input;
  if (typeof encContent !== 'string' || encContent.length <= mostCharacters) return;
  throw new HttpError('PAYLOAD_TOO_LARGE', `The content has more than ${mostCharacters} characters.`);
}
