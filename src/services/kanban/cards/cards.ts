// Cards as clients read them: each with what hangs on it, in one statement whatever their number.

import type { Kysely } from 'kysely';
import { type RawBuilder, sql } from 'kysely';
import type { Tables } from '../../../platform/database/tables.ts';
import { requireBoard } from '../access.ts';
import { notFound } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { cursorKey, type Page, type PageRequest, pageOf } from '../pages.ts';

export interface Card {
  id: string;
  boardId: string;
  columnId: string;
  encTitle: string;
  encDescription?: string | null;
  position: string;
  startAt: Date | null;
  dueAt: Date | null;
  completed: boolean;
  archived: boolean;
  milestoneId: string | null;
  labelIds: string[];
  assigneeIds: string[];
  customFieldValues: Array<{ fieldId: string; encValue: string }>;
  commentCount: number;
  checklistItemCount: number;
  checklistItemDoneCount: number;
  attachmentCount: number;
  createdAt: Date;
  updatedAt: Date;
}

export interface CardWithContent extends Card {
  encDescription: string | null;
  comments: unknown[];
  checklists: unknown[];
  attachments: unknown[];
}

export interface CardsRequest extends PageRequest {
  /** Whether archived ones are among them. */
  withArchived: boolean;
}

// Comments that come with a card; the rest is paged at /cards/{id}/comments.
const COMMENTS_WITH_CARD = 100;

/** Columns of a card as changes of it answer, but for its description. */
export const SUMMARY = sql`
  card.id, card.board_id, card.column_id, card.enc_title, card.position, card.start_at, card.due_at, card.completed,
  card.archived, card.milestone_id, card.created_at, card.updated_at,
  ARRAY(SELECT label_id FROM card_label WHERE card_id = card.id ORDER BY label_id) AS label_ids,
  ARRAY(SELECT account_id FROM card_assignee WHERE card_id = card.id ORDER BY account_id) AS assignee_ids,
  (SELECT coalesce(json_agg(json_build_object('fieldId', field_id, 'encValue', enc_value) ORDER BY field_id), '[]')
    FROM card_field_value WHERE card_id = card.id) AS custom_field_values,
  (SELECT count(*) FROM comment WHERE card_id = card.id) AS comment_count,
  (SELECT count(*) FROM checklist_item WHERE card_id = card.id) AS checklist_item_count,
  (SELECT count(*) FROM checklist_item WHERE card_id = card.id AND done) AS checklist_item_done_count,
  (SELECT count(*) FROM attachment WHERE card_id = card.id) AS attachment_count`;

/** A moment as replies have it; in JSON that PostgreSQL makes it would look otherwise. */
function moment(column: string): RawBuilder<string> {
  return sql`to_char(${sql.ref(column)} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
}

const CONTENT = sql`
  card.enc_description,
  (SELECT coalesce(json_agg(json_build_object('id', c.id, 'cardId', c.card_id, 'authorId', c.author_id,
      'encBody', c.enc_body, 'mentions', c.mentions, 'createdAt', ${moment('c.created_at')},
      'updatedAt', ${moment('c.updated_at')}) ORDER BY c.id), '[]')
    FROM (SELECT * FROM comment WHERE card_id = card.id ORDER BY id LIMIT ${COMMENTS_WITH_CARD}) c) AS comments,
  (SELECT coalesce(json_agg(json_build_object('id', l.id, 'cardId', l.card_id, 'encTitle', l.enc_title,
      'position', l.position, 'createdAt', ${moment('l.created_at')}, 'updatedAt', ${moment('l.updated_at')},
      'items', (SELECT coalesce(json_agg(json_build_object('id', i.id, 'checklistId', i.checklist_id,
          'encText', i.enc_text, 'done', i.done, 'position', i.position, 'assigneeId', i.assignee_id,
          'dueAt', ${moment('i.due_at')}, 'createdAt', ${moment('i.created_at')},
          'updatedAt', ${moment('i.updated_at')}) ORDER BY i.position, i.id), '[]')
        FROM checklist_item i WHERE i.checklist_id = l.id)) ORDER BY l.position, l.id), '[]')
    FROM checklist l WHERE l.card_id = card.id) AS checklists,
  (SELECT coalesce(json_agg(json_build_object('id', a.id, 'cardId', a.card_id, 'uploaderId', a.uploader_id,
      'encName', a.enc_name, 'sizeBytes', a.size_bytes, 'createdAt', ${moment('a.created_at')}) ORDER BY a.id), '[]')
    FROM attachment a WHERE a.card_id = card.id) AS attachments`;

/** The statement that reads a card with its content, if the account may. */
export function cardStatement(accountId: string, cardId: string): RawBuilder<CardWithContent> {
  return sql<CardWithContent>`
    SELECT ${SUMMARY}, ${CONTENT}
    FROM card JOIN board ON board.id = card.board_id JOIN workspace_member USING (workspace_id)
    WHERE card.id = ${cardId} AND workspace_member.account_id = ${accountId}`;
}

/** The statement that reads the cards of a board. */
export function cardsStatement(
  boardId: string,
  { limit, withArchived }: Pick<CardsRequest, 'limit' | 'withArchived'>,
  after?: readonly string[],
): RawBuilder<Card> {
  return sql<Card>`
    SELECT ${SUMMARY} FROM card
    WHERE card.board_id = ${boardId} ${withArchived ? sql`` : sql`AND NOT card.archived`}
      ${after ? sql`AND (card.column_id, card.position, card.id) > (${sql.join(after)})` : sql``}
    ORDER BY card.column_id, card.position, card.id LIMIT ${limit + 1}`;
}

/**
 * A card with its content. Access is part of the one statement.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export async function readCard(
  { platform }: KanbanService,
  accountId: string,
  cardId: string,
): Promise<CardWithContent> {
  const { rows } = await cardStatement(accountId, cardId).execute(platform.database);
  const [card] = rows;
  if (!card) throw notFound();
  return card;
}

/** A card without its content, as a change of it answers. */
export async function cardSummary(
  database: Kysely<Tables>,
  cardId: string,
): Promise<Card & { encDescription: string | null }> {
  const { rows } = await sql<Card & { encDescription: string | null }>`
    SELECT ${SUMMARY}, card.enc_description FROM card WHERE card.id = ${cardId}`.execute(database);
  const [card] = rows;
  if (!card) throw notFound();
  return card;
}

/**
 * The cards of a board, column by column, without their descriptions.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a cursor that is none
 */
export async function listCards(
  { platform }: KanbanService,
  accountId: string,
  boardId: string,
  request: CardsRequest,
): Promise<Page<Card>> {
  const { database } = platform;
  await requireBoard(database, accountId, { kind: 'board', id: boardId });
  const after = cursorKey(request, 3);
  const { rows } = await cardsStatement(boardId, request, after).execute(database);
  return pageOf(rows, request, ({ columnId, position, id }) => [columnId, position, id]);
}
