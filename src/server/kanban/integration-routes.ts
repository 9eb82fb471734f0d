// Automations and webhooks, as they are kept.
import { z } from 'zod';
import {
  changeAutomation,
  createAutomation,
  deleteAutomation,
} from '../../services/kanban/automations/automations.ts';
import type { Action } from '../../services/kanban/automations/rules.ts';
import { listObjects } from '../../services/kanban/boards/list-objects.ts';
import type { KanbanService } from '../../services/kanban/kanban-service.ts';
import { VERBS } from '../../services/kanban/resources.ts';
import { listDeliveries, requeueDelivery } from '../../services/kanban/webhooks/deliveries.ts';
import {
  changeWebhook,
  createWebhook,
  deleteWebhook,
  rotateWebhookSecret,
} from '../../services/kanban/webhooks/webhooks.ts';
import type { Route } from '../http/route.ts';
import { body, encrypted, flag, id, idParam, only, pageQuery } from './fields.ts';
import { signedIn } from './routes.ts';
import * as schema from './schemas.ts';
import { refuseTarget } from './webhook-target.ts';

const MOST_ACTIONS = 20;
const verb = z.enum(VERBS as [string, ...string[]], { error: 'must be a verb of the activity' });

const trigger = z.object(
  { verb, toColumnId: id.nullish(), fromColumnId: id.nullish(), labelId: id.nullish() },
  { error: 'must be a JSON object' },
);

const action = z.discriminatedUnion(
  'type',
  [
    z.object({ type: z.literal('MOVE_CARD'), toColumnId: id }),
    z.object({ type: z.literal('ADD_LABEL'), labelId: id }),
    z.object({ type: z.literal('REMOVE_LABEL'), labelId: id }),
    z.object({ type: z.literal('ASSIGN'), userId: id }),
    z.object({ type: z.literal('UNASSIGN'), userId: id }),
    z.object({ type: z.literal('SET_MILESTONE'), milestoneId: id.nullable() }),
    z.object({ type: z.literal('SET_COMPLETED'), completed: flag }),
    z.object({ type: z.literal('ARCHIVE') }),
  ],
  { error: 'must be an action with a type that is known' },
) satisfies z.ZodType<Action>;

const actions = z
  .array(action, { error: 'must be a list' })
  .min(1, 'must name at least one')
  .max(MOST_ACTIONS, `must name at most ${MOST_ACTIONS}`);

/** The routes of automations and webhooks. */
export function integrationRoutes(service: KanbanService): Route[] {
  return [...automations(service), ...webhooks(service)];
}

function automations(service: KanbanService): Route[] {
  return [
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/boards/{id}/automations',
      operationId: 'listAutomations',
      summary: 'List the automations of a board',
      params: idParam,
      query: pageQuery(),
      replies: { 200: { description: 'A page.', schema: schema.pages.automations } },
      handler: async ({ principal, params, query }) => ({
        status: 200,
        body: await listObjects(service, principal.accountId, 'automation', {
          ...query,
          of: { kind: 'board', id: params.id, column: 'boardId' },
        }),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/boards/{id}/automations',
      operationId: 'createAutomation',
      summary: 'Create an automation',
      description:
        'It runs as its creator, in the transaction of what sets it off, from metadata alone; automations that set each other off stop after five.',
      params: idParam,
      body: body({ encName: encrypted(), enabled: flag.optional(), trigger, actions }),
      replies: { 201: { description: 'The automation.', schema: schema.automation } },
      errors: ['FORBIDDEN', 'CONFLICT'],
      handler: async ({ principal, params, body: input }) => ({
        status: 201,
        body: only(schema.automation, await createAutomation(service, principal.accountId, params.id, input)),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'PATCH',
      path: '/automations/{id}',
      operationId: 'changeAutomation',
      summary: 'Change an automation',
      params: idParam,
      body: body({
        encName: encrypted().optional(),
        enabled: flag.optional(),
        trigger: trigger.optional(),
        actions: actions.optional(),
      }),
      replies: { 200: { description: 'The automation.', schema: schema.automation } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: input }) => ({
        status: 200,
        body: only(schema.automation, await changeAutomation(service, principal.accountId, params.id, input)),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'DELETE',
      path: '/automations/{id}',
      operationId: 'deleteAutomation',
      summary: 'Delete an automation',
      params: idParam,
      replies: { 204: { description: 'It is gone.' } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params }) => {
        await deleteAutomation(service, principal.accountId, params.id);
        return { status: 204 };
      },
    }),
  ];
}

function webhooks(service: KanbanService): Route[] {
  const { privateTargets } = service.platform.config.webhooks;
  const url = z
    .string({ error: 'must be a text' })
    .max(2048, 'must have at most 2048 characters')
    .superRefine((value, context) => {
      const message = refuseTarget(value, privateTargets);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .meta({ description: 'http or https, no credentials, a public address.' });
  const verbs = z.array(verb, { error: 'must be a list' }).max(VERBS.length).optional();
  return [
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/boards/{id}/webhooks',
      operationId: 'listWebhooks',
      summary: 'List the webhooks of a board',
      params: idParam,
      query: pageQuery(),
      replies: { 200: { description: 'A page.', schema: schema.pages.webhooks } },
      handler: async ({ principal, params, query }) => {
        const page = await listObjects(service, principal.accountId, 'webhook', {
          ...query,
          of: { kind: 'board', id: params.id, column: 'boardId' },
        });
        return { status: 200, body: { ...page, items: page.items.map((row) => only(schema.webhook, row)) } };
      },
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/boards/{id}/webhooks',
      operationId: 'createWebhook',
      summary: 'Create a webhook',
      description: 'Admins and owners. From now on each change with one of its verbs is delivered to it.',
      params: idParam,
      body: body({ url, verbs, enabled: flag.optional() }),
      replies: { 201: { description: 'The webhook with its secret.', schema: schema.webhookWithSecret } },
      errors: ['FORBIDDEN', 'CONFLICT'],
      handler: async ({ principal, params, body: input }) => ({
        status: 201,
        body: only(
          schema.webhookWithSecret,
          await createWebhook(service, principal.accountId, params.id, input),
        ),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'PATCH',
      path: '/webhooks/{id}',
      operationId: 'changeWebhook',
      summary: 'Change a webhook',
      description: 'Admins and owners.',
      params: idParam,
      body: body({ url: url.optional(), verbs, enabled: flag.optional() }),
      replies: { 200: { description: 'The webhook.', schema: schema.webhook } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params, body: input }) => ({
        status: 200,
        body: only(schema.webhook, await changeWebhook(service, principal.accountId, params.id, input)),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/webhooks/{id}/rotate-secret',
      operationId: 'rotateWebhookSecret',
      summary: 'Give a webhook a new secret',
      description: 'Admins and owners. For a day both secrets sign.',
      params: idParam,
      replies: { 200: { description: 'The webhook with its new secret.', schema: schema.webhookWithSecret } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params }) => ({
        status: 200,
        body: only(
          schema.webhookWithSecret,
          await rotateWebhookSecret(service, principal.accountId, params.id),
        ),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'DELETE',
      path: '/webhooks/{id}',
      operationId: 'deleteWebhook',
      summary: 'Delete a webhook',
      description: 'Admins and owners.',
      params: idParam,
      replies: { 204: { description: 'It is gone.' } },
      errors: ['FORBIDDEN'],
      handler: async ({ principal, params }) => {
        await deleteWebhook(service, principal.accountId, params.id);
        return { status: 204 };
      },
    }),
    signedIn(service, 'reads', {
      method: 'GET',
      path: '/webhooks/{id}/deliveries',
      operationId: 'listDeliveries',
      summary: 'List the deliveries of a webhook, newest first',
      params: idParam,
      query: pageQuery(),
      replies: { 200: { description: 'A page.', schema: schema.pages.deliveries } },
      handler: async ({ principal, params, query }) => ({
        status: 200,
        body: await listDeliveries(service, principal.accountId, params.id, query),
      }),
    }),
    signedIn(service, 'writes', {
      method: 'POST',
      path: '/webhooks/deliveries/{id}/requeue',
      operationId: 'requeueDelivery',
      summary: 'Deliver once more',
      description: 'Admins and owners. It keeps its id and gets its whole schedule again.',
      params: z.object({ id: z.string().regex(/^[0-9A-HJKMNP-TV-Z]{26}$/) }),
      replies: { 200: { description: 'The delivery, pending.', schema: schema.delivery } },
      errors: ['FORBIDDEN', 'CONFLICT'],
      handler: async ({ principal, params }) => ({
        status: 200,
        body: await requeueDelivery(service, principal.accountId, params.id),
      }),
    }),
  ];
}
