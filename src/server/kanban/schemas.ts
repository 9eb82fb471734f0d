// The resources of the kanban API as replies show them (contract, section 5), each defined once.
import { z } from 'zod';
import { timestamp } from '../http/fields.ts';
import { changeable, created, pageReply } from './fields.ts';

const id = z.string();
const role = z.enum(['owner', 'admin', 'member']);

export const user = z.object({
  id,
  email: z.string(),
  publicKey: z.string(),
  totpEnabled: z.boolean(),
  ...created,
});

export const foundUser = z.object({ id, email: z.string(), publicKey: z.string() });

export const membership = z.object({
  workspaceId: id,
  role,
  encWorkspaceKey: z.string(),
  joinedAt: timestamp,
});

export const session = z.object({
  id,
  userAgent: z.string().nullable(),
  createdAt: timestamp,
  lastUsedAt: timestamp,
  current: z.boolean(),
});

export const credential = z.object({
  id,
  credentialId: z.string(),
  transports: z.array(z.string()),
  createdAt: timestamp,
  lastUsedAt: timestamp.nullable(),
});

export const workspace = z.object({
  id,
  encName: z.string(),
  role,
  encWorkspaceKey: z.string(),
  keyEpoch: z.int(),
  rotationDue: z.boolean(),
  ...changeable,
});

export const member = z.object({
  userId: id,
  email: z.string(),
  publicKey: z.string(),
  role,
  joinedAt: timestamp,
});

export const column = z.object({
  id,
  boardId: id,
  encName: z.string(),
  position: z.string(),
  wipLimit: z.int().nullable(),
  ...changeable,
});

export const label = z.object({ id, boardId: id, encName: z.string(), color: z.string(), ...changeable });

export const milestone = z.object({
  id,
  boardId: id,
  encName: z.string(),
  dueAt: timestamp.nullable(),
  archived: z.boolean(),
  ...changeable,
});

export const cardTemplate = z.object({
  id,
  boardId: id,
  encName: z.string(),
  encContent: z.string(),
  ...created,
});

export const customField = z.object({
  id,
  boardId: id,
  encName: z.string(),
  kind: z.enum(['text', 'number', 'date', 'select', 'checkbox']),
  encOptions: z.string().nullable(),
  position: z.string(),
  ...changeable,
});

export const board = z.object({
  id,
  workspaceId: id,
  encName: z.string(),
  encDescription: z.string().nullable(),
  encBoardKey: z.string().meta({ description: 'Under the newest epoch.' }),
  encBoardKeys: z.array(z.object({ epoch: z.int(), encBoardKey: z.string() })),
  archived: z.boolean(),
  ...changeable,
});

export const boardWithContent = board.extend({
  columns: z.array(column),
  labels: z.array(label),
  milestones: z.array(milestone),
  customFields: z.array(customField),
  members: z.array(member),
});

const cardFields = {
  id,
  boardId: id,
  columnId: id,
  encTitle: z.string(),
  position: z.string(),
  startAt: timestamp.nullable(),
  dueAt: timestamp.nullable(),
  completed: z.boolean(),
  archived: z.boolean(),
  milestoneId: id.nullable(),
  labelIds: z.array(id),
  assigneeIds: z.array(id),
  customFieldValues: z.array(z.object({ fieldId: id, encValue: z.string() })),
  commentCount: z.int(),
  checklistItemCount: z.int(),
  checklistItemDoneCount: z.int(),
  attachmentCount: z.int(),
  ...changeable,
};

/** A card in a list: without its description. */
export const cardSummary = z.object(cardFields);

export const card = z.object({ ...cardFields, encDescription: z.string().nullable() });

export const comment = z.object({
  id,
  cardId: id,
  authorId: id.nullable(),
  encBody: z.string(),
  mentions: z.array(id),
  ...changeable,
});

export const checklistItem = z.object({
  id,
  checklistId: id,
  encText: z.string(),
  done: z.boolean(),
  position: z.string(),
  assigneeId: id.nullable(),
  dueAt: timestamp.nullable(),
  ...changeable,
});

export const checklist = z.object({
  id,
  cardId: id,
  encTitle: z.string(),
  position: z.string(),
  items: z.array(checklistItem),
  ...changeable,
});

export const attachment = z.object({
  id,
  cardId: id,
  uploaderId: id.nullable(),
  encName: z.string(),
  sizeBytes: z.int(),
  ...created,
});

export const attachmentWithContent = attachment.extend({ encContent: z.string() });

export const cardWithContent = card.extend({
  comments: z.array(comment).meta({ description: 'The first 100; the others at /cards/{id}/comments.' }),
  checklists: z.array(checklist),
  attachments: z.array(attachment),
});

export const automation = z.object({
  id,
  boardId: id,
  encName: z.string(),
  enabled: z.boolean(),
  trigger: z.object({
    verb: z.string(),
    toColumnId: id.nullish(),
    fromColumnId: id.nullish(),
    labelId: id.nullish(),
  }),
  actions: z.array(z.looseObject({ type: z.string() })),
  ...changeable,
});

export const webhook = z.object({
  id,
  boardId: id,
  url: z.string(),
  verbs: z.array(z.string()).meta({ description: 'Empty: all.' }),
  enabled: z.boolean(),
  ...changeable,
});

export const webhookWithSecret = webhook.extend({
  secret: z.string().meta({ description: 'Key of the signatures, as it stands here. Given out this once.' }),
});

export const delivery = z.object({
  id: z.string().meta({ description: 'A ULID; the header `X-App-Delivery-Id`.' }),
  webhookId: id,
  verb: z.string(),
  status: z.enum(['pending', 'delivered', 'failed', 'dead']),
  attempts: z.array(
    z.object({
      at: z.string(),
      status: z.number().optional().meta({ description: 'Of the answer; absent when there was none.' }),
      error: z.string().optional(),
      durationMs: z.number(),
    }),
  ),
  nextAttemptAt: timestamp.nullable().meta({ description: 'Null once nothing more will be tried.' }),
  body: z.string().meta({ description: 'As it is sent, byte for byte.' }),
  createdAt: timestamp,
});

export const activity = z.object({
  id,
  seq: z.int(),
  verb: z.string(),
  boardId: id,
  cardId: id.nullable(),
  actorId: id.nullable(),
  timestamp,
  metadata: z.record(z.string(), z.unknown()),
});

export const notification = z.object({
  id,
  kind: z.enum(['assignment', 'mention']),
  boardId: id,
  cardId: id,
  commentId: id.nullable(),
  actorId: id.nullable(),
  createdAt: timestamp,
  readAt: timestamp.nullable(),
});

/** Pages of each, made once: a serializer is compiled for each schema. */
export const pages = {
  workspaces: pageReply(workspace),
  members: pageReply(member),
  boards: pageReply(board),
  columns: pageReply(column),
  cards: pageReply(cardSummary),
  labels: pageReply(label),
  milestones: pageReply(milestone),
  cardTemplates: pageReply(cardTemplate),
  customFields: pageReply(customField),
  comments: pageReply(comment),
  checklists: pageReply(checklist),
  attachments: pageReply(attachment),
  automations: pageReply(automation),
  webhooks: pageReply(webhook),
  deliveries: pageReply(delivery),
  activity: pageReply(activity),
  notifications: pageReply(notification),
  sessions: pageReply(session),
  credentials: pageReply(credential),
};
