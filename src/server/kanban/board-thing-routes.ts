// What a board owns: columns, labels, milestones, card templates, custom fields.
import { z } from 'zod';
import type { Row } from '../../services/kanban/access.ts';
import {
  type BoardThingKind,
  changeBoardThing,
  createBoardThing,
  deleteBoardThing,
} from '../../services/kanban/boards/board-things.ts';
import { type ListedKind, listObjects } from '../../services/kanban/boards/list-objects.ts';
import { changePlaced, createPlaced, deletePlaced } from '../../services/kanban/boards/placed-things.ts';
import type { KanbanService } from '../../services/kanban/kanban-service.ts';
import type { Route } from '../http/route.ts';
import {
  archivedQuery,
  body,
  encrypted,
  flag,
  id,
  idParam,
  moment,
  oneOf,
  only,
  pageQuery,
} from './fields.ts';
import { signedIn, type UserWindow } from './routes.ts';
import * as schema from './schemas.ts';

interface ThingRoutes {
  /** `labels`, as paths have it. */
  path: string;
  /** `label`, as sentences have it. */
  name: string;
  /** `Label`, as operation ids have it. */
  id: string;
  plural: string;
  window: UserWindow;
  reply: z.ZodObject;
  page: z.ZodType;
  query?: z.ZodObject;
  list: (
    accountId: string,
    boardId: string,
    query: Record<string, unknown>,
  ) => Promise<{ items: Row[]; nextCursor: string | null }>;
  createBody: z.ZodType<Record<string, unknown>>;
  create: (accountId: string, boardId: string, input: Record<string, unknown>) => Promise<Row>;
  changeBody?: z.ZodType<Record<string, unknown>>;
  change?: (accountId: string, id: string, input: Record<string, unknown>) => Promise<Row>;
  remove: (accountId: string, id: string) => Promise<void>;
}

const color = z
  .string({ error: 'must be a text' })
  .regex(/^#[0-9a-fA-F]{6}$/, 'must be of the form #rrggbb')
  .meta({ examples: ['#2f80ed'] });
const wipLimit = z.int({ error: 'must be a whole number' }).min(1).max(100_000).nullish();
const kind = oneOf(['text', 'number', 'date', 'select', 'checkbox']);

/** The routes of what a board owns, but for its cards. */
export function boardThingRoutes(service: KanbanService): Route[] {
  return [
    columns(service),
    labels(service),
    milestones(service),
    cardTemplates(service),
    customFields(service),
  ].flatMap((things) => routesOf(service, things));
}

function routesOf(service: KanbanService, things: ThingRoutes): Route[] {
  const { path, name, window, reply, change, changeBody } = things;
  const errors = ['FORBIDDEN'] as const;
  const routes = [
    signedIn(service, 'reads', {
      method: 'GET',
      path: `/boards/{id}/${path}`,
      operationId: `list${things.plural}`,
      summary: `List the ${path.replace('-', ' ')} of a board`,
      params: idParam,
      query: things.query ?? pageQuery(),
      replies: { 200: { description: 'A page.', schema: things.page } },
      handler: async ({ principal, params, query }) => ({
        status: 200,
        body: await things.list(principal.accountId, params.id, query),
      }),
    }),
    signedIn(service, window, {
      method: 'POST',
      path: `/boards/{id}/${path}`,
      operationId: `create${things.id}`,
      summary: `Create a ${name}`,
      params: idParam,
      body: things.createBody,
      replies: { 201: { description: `The ${name}.`, schema: reply } },
      errors: [...errors],
      handler: async ({ principal, params, body: input }) => ({
        status: 201,
        body: only(reply, await things.create(principal.accountId, params.id, input)),
      }),
    }),
    signedIn(service, window, {
      method: 'DELETE',
      path: `/${path}/{id}`,
      operationId: `delete${things.id}`,
      summary: `Delete a ${name}`,
      params: idParam,
      replies: { 204: { description: 'It is gone.' } },
      errors: [...errors],
      handler: async ({ principal, params }) => {
        await things.remove(principal.accountId, params.id);
        return { status: 204 };
      },
    }),
  ];
  if (!change || !changeBody) return routes;
  return [
    ...routes,
    signedIn(service, window, {
      method: 'PATCH',
      path: `/${path}/{id}`,
      operationId: `change${things.id}`,
      summary: `Change a ${name}`,
      description: 'What is left out stays; null clears what may be empty.',
      params: idParam,
      body: changeBody,
      replies: { 200: { description: `The ${name}.`, schema: reply } },
      errors: [...errors],
      handler: async ({ principal, params, body: input }) => ({
        status: 200,
        body: only(reply, await change(principal.accountId, params.id, input)),
      }),
    }),
  ];
}

function columns(service: KanbanService): ThingRoutes {
  const places = { beforeColumnId: id.nullish(), afterColumnId: id.nullish() };
  const placing = ({ beforeColumnId, afterColumnId, ...values }: Record<string, unknown>) => ({
    beforeId: beforeColumnId as string | null | undefined,
    afterId: afterColumnId as string | null | undefined,
    values,
  });
  return {
    path: 'columns',
    name: 'column',
    id: 'Column',
    plural: 'Columns',
    window: 'mutations',
    reply: schema.column,
    page: schema.pages.columns,
    list: listOf(service, 'column'),
    createBody: body({ encName: encrypted(), wipLimit, ...places }),
    create: (accountId, boardId, input) =>
      createPlaced(service, accountId, 'column', boardId, placing(input)),
    changeBody: body({ encName: encrypted().optional(), wipLimit, ...places }),
    change: (accountId, columnId, input) =>
      changePlaced(service, accountId, { kind: 'column', id: columnId }, placing(input)),
    remove: (accountId, columnId) => deletePlaced(service, accountId, { kind: 'column', id: columnId }),
  };
}

function customFields(service: KanbanService): ThingRoutes {
  const places = { beforeFieldId: id.nullish(), afterFieldId: id.nullish() };
  const placing = ({ beforeFieldId, afterFieldId, ...values }: Record<string, unknown>) => ({
    beforeId: beforeFieldId as string | null | undefined,
    afterId: afterFieldId as string | null | undefined,
    values,
  });
  const encOptions = encrypted().nullish();
  return {
    path: 'custom-fields',
    name: 'custom field',
    id: 'CustomField',
    plural: 'CustomFields',
    window: 'writes',
    reply: schema.customField,
    page: schema.pages.customFields,
    list: listOf(service, 'customField'),
    createBody: body({ encName: encrypted(), kind, encOptions, ...places }),
    create: (accountId, boardId, input) =>
      createPlaced(service, accountId, 'customField', boardId, placing(input)),
    changeBody: body({ encName: encrypted().optional(), kind: kind.optional(), encOptions, ...places }),
    change: (accountId, fieldId, input) =>
      changePlaced(service, accountId, { kind: 'customField', id: fieldId }, placing(input)),
    remove: (accountId, fieldId) => deletePlaced(service, accountId, { kind: 'customField', id: fieldId }),
  };
}

function labels(service: KanbanService): ThingRoutes {
  return {
    path: 'labels',
    name: 'label',
    id: 'Label',
    plural: 'Labels',
    window: 'writes',
    reply: schema.label,
    page: schema.pages.labels,
    list: listOf(service, 'label'),
    createBody: body({ encName: encrypted(), color }),
    changeBody: body({ encName: encrypted().optional(), color: color.optional() }),
    ...ownedBy(service, 'label'),
  };
}

function milestones(service: KanbanService): ThingRoutes {
  return {
    path: 'milestones',
    name: 'milestone',
    id: 'Milestone',
    plural: 'Milestones',
    window: 'writes',
    reply: schema.milestone,
    page: schema.pages.milestones,
    query: archivedQuery(),
    list: listOf(service, 'milestone'),
    createBody: body({ encName: encrypted(), dueAt: moment.nullish() }),
    changeBody: body({
      encName: encrypted().optional(),
      dueAt: moment.nullish(),
      archived: flag.optional(),
    }),
    ...ownedBy(service, 'milestone'),
  };
}

function cardTemplates(service: KanbanService): ThingRoutes {
  const { create, remove } = ownedBy(service, 'cardTemplate');
  return {
    path: 'card-templates',
    name: 'card template',
    id: 'CardTemplate',
    plural: 'CardTemplates',
    window: 'writes',
    reply: schema.cardTemplate,
    page: schema.pages.cardTemplates,
    list: listOf(service, 'cardTemplate'),
    createBody: body({ encName: encrypted(), encContent: encrypted() }),
    create,
    remove,
  };
}

function ownedBy(
  service: KanbanService,
  thing: BoardThingKind,
): Pick<ThingRoutes, 'create' | 'remove'> & Required<Pick<ThingRoutes, 'change'>> {
  return {
    create: (accountId, boardId, input) => createBoardThing(service, accountId, boardId, thing, input),
    change: (accountId, thingId, input) =>
      changeBoardThing(service, accountId, { kind: thing, id: thingId }, input),
    remove: (accountId, thingId) => deleteBoardThing(service, accountId, { kind: thing, id: thingId }),
  };
}

function listOf(service: KanbanService, thing: ListedKind): ThingRoutes['list'] {
  return (accountId, boardId, { limit, cursor, archived }) =>
    listObjects(service, accountId, thing, {
      limit: Number(limit),
      cursor: cursor as string | undefined,
      withArchived: archived === '1',
      of: { kind: 'board', id: boardId, column: 'boardId' },
    });
}
