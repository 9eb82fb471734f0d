// Everything an account can read, as it is stored: JSON, piece by piece, so that its size does not matter. Access is
// asked for again at each board: a membership may end while the export runs.
import { type RawBuilder, sql } from 'kysely';
import { type Board, listBoards } from '../boards/boards.ts';
import type { KanbanService } from '../kanban-service.ts';
import { listNotifications } from '../notifications.ts';
import { everyItem } from '../pages.ts';
import { listMembers } from '../workspaces/members.ts';
import { listWorkspaces, type Workspace } from '../workspaces/workspaces.ts';
import { listCredentials } from './list-credentials.ts';
import { readMe } from './me.ts';
import type { Principal } from './session-cache.ts';
import { listSessions } from './sessions.ts';

const ROWS_A_PAGE = 200;

interface BoardTable {
  /** What the export calls its rows. */
  name: string;
  table: string;
  /** How many are in memory at a time. */
  rows: number;
  /** All unless told otherwise. */
  columns?: RawBuilder<unknown>;
}

// What may be large goes a few at a time, attachments one by one.
const OF_BOARD: readonly BoardTable[] = [
  { name: 'columns', table: 'board_column', rows: ROWS_A_PAGE },
  { name: 'labels', table: 'label', rows: ROWS_A_PAGE },
  { name: 'milestones', table: 'milestone', rows: ROWS_A_PAGE },
  { name: 'customFields', table: 'custom_field', rows: 100 },
  { name: 'cardTemplates', table: 'card_template', rows: 100 },
  { name: 'cards', table: 'card', rows: 20 },
  { name: 'comments', table: 'comment', rows: ROWS_A_PAGE },
  { name: 'checklists', table: 'checklist', rows: ROWS_A_PAGE },
  { name: 'checklistItems', table: 'checklist_item', rows: ROWS_A_PAGE },
  { name: 'attachments', table: 'attachment', rows: 1 },
  { name: 'automations', table: 'automation', rows: ROWS_A_PAGE },
  {
    name: 'webhooks',
    table: 'webhook',
    rows: ROWS_A_PAGE,
    columns: sql`id, board_id, url, verbs, enabled, created_at, updated_at`,
  },
];

// What ties a card to something else, with the column that names the other.
const LINKS = [
  { name: 'cardLabels', table: 'card_label', other: 'labelId' },
  { name: 'cardAssignees', table: 'card_assignee', other: 'accountId' },
  { name: 'customFieldValues', table: 'card_field_value', other: 'fieldId' },
] as const;

/** The export of an account, as pieces of one JSON document. */
export async function* exportAccount(service: KanbanService, principal: Principal): AsyncGenerator<string> {
  const { accountId } = principal;
  const { user, memberships } = await readMe(service, accountId);
  yield `{"exportedAt":${JSON.stringify(new Date(service.platform.clock.now()))}`;
  yield `,"user":${JSON.stringify(user)},"memberships":${JSON.stringify(memberships)}`;
  yield ',"sessions":';
  yield* listed(everyItem((page) => listSessions(service, principal, page), ROWS_A_PAGE));
  yield ',"webauthnCredentials":';
  yield* listed(everyItem((page) => listCredentials(service, accountId, page), ROWS_A_PAGE));
  yield ',"notifications":';
  yield* listed(everyItem((page) => listNotifications(service, accountId, page), ROWS_A_PAGE));
  yield ',"workspaces":[';
  let separator = '';
  for await (const workspace of everyItem((page) => listWorkspaces(service, accountId, page), ROWS_A_PAGE)) {
    yield separator;
    yield* exportWorkspace(service, accountId, workspace);
    separator = ',';
  }
  yield ']}\n';
}

async function* exportWorkspace(
  service: KanbanService,
  accountId: string,
  workspace: Workspace,
): AsyncGenerator<string> {
  const { id } = workspace;
  yield `{"workspace":${JSON.stringify(workspace)},"members":`;
  yield* listed(everyItem((page) => listMembers(service, accountId, id, page), ROWS_A_PAGE));
  yield ',"boards":[';
  let separator = '';
  // One at a time: with each page access is asked for.
  const boards = everyItem((page) => listBoards(service, accountId, id, { ...page, withArchived: true }), 1);
  for await (const board of boards) {
    yield separator;
    yield* exportBoard(service, board);
    separator = ',';
  }
  yield ']}';
}

async function* exportBoard(service: KanbanService, board: Board): AsyncGenerator<string> {
  yield `{"board":${JSON.stringify(board)}`;
  for (const things of OF_BOARD) {
    yield `,"${things.name}":`;
    yield* listed(rowsOf(service, things, board.id));
  }
  for (const { name, table, other } of LINKS) {
    yield `,"${name}":`;
    yield* listed(linksOf(service, { table, other }, board.id));
  }
  yield ',"activity":';
  yield* listed(activityOf(service, board.id));
  yield '}';
}

/** A JSON array of what comes. */
async function* listed(items: AsyncIterable<unknown>): AsyncGenerator<string> {
  let separator = '[';
  for await (const item of items) {
    yield separator + JSON.stringify(item);
    separator = ',';
  }
  yield separator === '[' ? '[]' : ']';
}

async function* rowsOf(
  { platform }: KanbanService,
  { table, rows: most, columns = sql`*` }: BoardTable,
  boardId: string,
): AsyncGenerator<unknown> {
  let after = '';
  for (;;) {
    const { rows } = await sql<{ id: string }>`
      SELECT ${columns} FROM ${sql.table(table)} WHERE board_id = ${boardId} AND id > ${after}
      ORDER BY id LIMIT ${most}`.execute(platform.database);
    yield* rows;
    if (rows.length < most) return;
    after = rows.at(-1)?.id ?? '';
  }
}

async function* activityOf({ platform }: KanbanService, boardId: string): AsyncGenerator<unknown> {
  let after = 0;
  for (;;) {
    const rows = await platform.database
      .selectFrom('activity')
      .selectAll()
      .where('boardId', '=', boardId)
      .where('seq', '>', after)
      .orderBy('seq')
      .limit(ROWS_A_PAGE)
      .execute();
    yield* rows;
    if (rows.length < ROWS_A_PAGE) return;
    after = rows.at(-1)?.seq ?? after;
  }
}

type Link = Record<string, string> & { cardId: string };

async function* linksOf(
  { platform }: KanbanService,
  { table, other }: { table: string; other: string },
  boardId: string,
): AsyncGenerator<unknown> {
  const column = sql.ref(`link.${other}`);
  let [cardId, otherId] = ['', ''];
  for (;;) {
    const { rows } = await sql<Link>`
      SELECT link.* FROM card JOIN ${sql.table(table)} AS link ON link.card_id = card.id
      WHERE card.board_id = ${boardId} AND card.id >= ${cardId}
        AND (link.card_id, ${column}) > (${cardId}, ${otherId})
      ORDER BY card.id, ${column} LIMIT ${ROWS_A_PAGE}`.execute(platform.database);
    yield* rows;
    const last = rows.at(-1);
    if (!last || rows.length < ROWS_A_PAGE) return;
    [cardId, otherId] = [last.cardId, last[other] ?? ''];
  }
}
