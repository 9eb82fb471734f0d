// What lies on a board: the table of each kind, the verb of its activity, the name of its id in metadata.
import type { KanbanTables } from '../../platform/database/kanban-tables.ts';

export const RESOURCES = {
  column: { table: 'boardColumn', verb: 'COLUMN', idName: 'columnId' },
  card: { table: 'card', verb: 'CARD', idName: 'cardId' },
  label: { table: 'label', verb: 'LABEL', idName: 'labelId' },
  milestone: { table: 'milestone', verb: 'MILESTONE', idName: 'milestoneId' },
  cardTemplate: { table: 'cardTemplate', verb: 'CARD_TEMPLATE', idName: 'cardTemplateId' },
  customField: { table: 'customField', verb: 'CUSTOM_FIELD', idName: 'fieldId' },
  comment: { table: 'comment', verb: 'COMMENT', idName: 'commentId' },
  checklist: { table: 'checklist', verb: 'CHECKLIST', idName: 'checklistId' },
  checklistItem: { table: 'checklistItem', verb: 'CHECKLIST_ITEM', idName: 'checklistItemId' },
  attachment: { table: 'attachment', verb: 'ATTACHMENT', idName: 'attachmentId' },
  automation: { table: 'automation', verb: 'AUTOMATION', idName: 'automationId' },
  webhook: { table: 'webhook', verb: 'WEBHOOK', idName: 'webhookId' },
} as const satisfies Record<string, { table: keyof KanbanTables; verb: string; idName: string }>;

export type ObjectKind = keyof typeof RESOURCES;

/** Whatever a path or body may name. */
export type TargetKind = ObjectKind | 'board';

/** The verbs of the activity of a board (contract, section 5). */
export const VERBS = [
  ...['BOARD', ...Object.values(RESOURCES).map(({ verb }) => verb)].flatMap((subject) =>
    ['CREATED', 'UPDATED', 'DELETED'].map((change) => `${subject}_${change}`),
  ),
  'COLUMN_MOVED',
  'CARD_MOVED',
  'CARD_ARCHIVED',
  'CARD_RESTORED',
  'CARD_LABELED',
  'CARD_UNLABELED',
  'CARD_ASSIGNED',
  'CARD_UNASSIGNED',
  'CARD_MILESTONE_SET',
  'CARD_COMPLETED',
  'CARD_REOPENED',
].filter((verb) => verb !== 'CARD_TEMPLATE_UPDATED' && verb !== 'ATTACHMENT_UPDATED');
