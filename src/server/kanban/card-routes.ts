// Cards and what ties them to labels, people and milestones.
import { z } from 'zod';
import { assign, attachLabel, detachLabel, unassign } from '../../services/kanban/cards/card-links.ts';
import { listCards, readCard } from '../../services/kanban/cards/cards.ts';
import { changeCard, deleteCard, setMilestone } from '../../services/kanban/cards/change-cards.ts';
import { createCard } from '../../services/kanban/cards/create-card.ts';
import { moveCard } from '../../services/kanban/cards/move-card.ts';
import type { KanbanService } from '../../services/kanban/kanban-service.ts';
import { badRequest } from '../http/errors.ts';
import type { Route } from '../http/route.ts';
import { archivedQuery, body, encrypted, flag, id, idParam, LONG_FIELD_LIMIT, moment } from './fields.ts';
import { signedIn } from './routes.ts';
import * as schema from './schemas.ts';

const CARDS_OF_A_BOARD = 10_000;
const MOST_FIELD_VALUES = 200;
const VALUES_BODY_LIMIT = 16 * 1024 * 1024;

const details = {
  encDescription: encrypted(LONG_FIELD_LIMIT).nullish(),
  startAt: moment.nullish(),
  dueAt: moment.nullish(),
  milestoneId: id.nullish(),
};

const fieldValues = z
  .array(
    z.object({
      fieldId: id,
      encValue: encrypted().nullable().meta({ description: 'Null removes the value.' }),
    }),
    { error: 'must be a list' },
  )
  .max(MOST_FIELD_VALUES)
  .optional()
  .meta({ description: 'Merged with the values that are there.' });

/** The routes of cards. */
export function cardRoutes(service: KanbanService): Route[] {
  return [
    signedIn(service, 'mutations', {
      method: 'POST',
      path: '/columns/{id}/cards',
      operationId: 'createCard',
      summary: 'Create a card, last in its column',
      params: idParam,
      bodyLimitBytes: VALUES_BODY_LIMIT,
      body: body({ encTitle: encrypted(), ...details, customFieldValues: fieldValues }),
      replies: { 201: { description: 'The card.', schema: schema.card } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: input }) => ({
        status: 201,
        body: await createCard(service, principal.accountId, params.id, input),
      }),
    }),
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/boards/{id}/cards',
      operationId: 'listCards',
      summary: 'List the cards of a board, without their descriptions',
      params: idParam,
      query: archivedQuery(CARDS_OF_A_BOARD, CARDS_OF_A_BOARD),
      replies: { 200: { description: 'A page.', schema: schema.pages.cards } },
      handler: async ({ principal, params, query: { archived, ...page } }) => ({
        status: 200,
        body: await listCards(service, principal.accountId, params.id, {
          ...page,
          withArchived: archived === '1',
        }),
      }),
    }),
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/cards/{id}',
      operationId: 'readCard',
      summary: 'Read a card with comments, checklists and attachments',
      params: idParam,
      replies: { 200: { description: 'The card.', schema: schema.cardWithContent } },
      handler: async ({ principal, params }) => ({
        status: 200,
        body: await readCard(service, principal.accountId, params.id),
      }),
    }),
    signedIn(service, 'mutations', {
      method: 'PATCH',
      path: '/cards/{id}',
      operationId: 'changeCard',
      summary: 'Change a card',
      description: 'What is left out stays; null clears. One activity row for each kind of change.',
      params: idParam,
      bodyLimitBytes: VALUES_BODY_LIMIT,
      body: body({
        encTitle: encrypted().optional(),
        ...details,
        completed: flag.optional(),
        archived: flag.optional(),
        customFieldValues: fieldValues,
      }),
      replies: { 200: { description: 'The card.', schema: schema.card } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: input }) => ({
        status: 200,
        body: await changeCard(service, principal.accountId, params.id, input),
      }),
    }),
    signedIn(service, 'mutations', {
      method: 'DELETE',
      path: '/cards/{id}',
      operationId: 'deleteCard',
      summary: 'Delete a card with all that hangs on it',
      params: idParam,
      replies: { 204: { description: 'It is gone.' } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params }) => {
        await deleteCard(service, principal.accountId, params.id);
        return { status: 204 };
      },
    }),
    signedIn(service, 'mutations', {
      method: 'PATCH',
      path: '/cards/{id}/move',
      operationId: 'moveCard',
      summary: 'Move a card',
      description:
        'Directly before `beforeCardId`, or directly after `afterCardId` (which wins), or last in the column.',
      params: idParam,
      body: body({ toColumnId: id, beforeCardId: id.nullish(), afterCardId: id.nullish() }),
      replies: { 200: { description: 'The card.', schema: schema.card } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: input }) => ({
        status: 200,
        body: await moveCard(service, principal.accountId, params.id, input),
      }),
    }),
    signedIn(service, 'mutations', {
      method: 'POST',
      path: '/cards/{id}/labels',
      operationId: 'attachLabel',
      summary: 'Attach a label',
      description: 'Idempotent.',
      params: idParam,
      body: body({ labelId: id }),
      replies: { 201: { description: 'The card.', schema: schema.card } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: { labelId } }) => ({
        status: 201,
        body: await attachLabel(service, principal.accountId, params.id, labelId),
      }),
    }),
    signedIn(service, 'mutations', {
      method: 'DELETE',
      path: '/cards/{id}/labels',
      operationId: 'detachLabel',
      summary: 'Detach a label',
      description: 'Idempotent. `labelId` in the body or in the query.',
      params: idParam,
      query: z.object({ labelId: id.optional() }),
      body: body({ labelId: id.optional() }).optional(),
      replies: { 204: { description: 'The card has the label no more.' } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, query, body: input }) => {
        const labelId = input?.labelId ?? query.labelId;
        if (labelId === undefined)
          throw badRequest({ labelId: ['is required, in the body or in the query'] });
        await detachLabel(service, principal.accountId, params.id, labelId);
        return { status: 204 };
      },
    }),
    signedIn(service, 'mutations', {
      method: 'POST',
      path: '/cards/{id}/assignments',
      operationId: 'assign',
      summary: 'Assign a member',
      description: 'Idempotent. They are told.',
      params: idParam,
      body: body({ userId: id }),
      replies: { 201: { description: 'The card.', schema: schema.card } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: { userId } }) => ({
        status: 201,
        body: await assign(service, principal.accountId, params.id, userId),
      }),
    }),
    signedIn(service, 'mutations', {
      method: 'DELETE',
      path: '/cards/{id}/assignments/{userId}',
      operationId: 'unassign',
      summary: 'Unassign somebody',
      description: 'Idempotent.',
      params: z.object({ id, userId: id }),
      replies: { 204: { description: 'They are not assigned.' } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params }) => {
        await unassign(service, principal.accountId, params.id, params.userId);
        return { status: 204 };
      },
    }),
    signedIn(service, 'mutations', {
      method: 'PUT',
      path: '/cards/{id}/milestone',
      operationId: 'setMilestone',
      summary: 'Set the milestone of a card, or clear it',
      params: idParam,
      body: body({ milestoneId: id.nullable() }),
      replies: { 200: { description: 'The card.', schema: schema.card } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: { milestoneId } }) => ({
        status: 200,
        body: await setMilestone(service, principal.accountId, params.id, milestoneId),
      }),
    }),
  ];
}
