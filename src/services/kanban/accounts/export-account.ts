// Everything an account can read, as it is stored: JSON, piece by piece, so that its size does not matter.
import { sql } from 'kysely';
import type { KanbanService } from '../kanban-service.ts';
import { listMembers } from '../workspaces/members.ts';
import { listWorkspaces, type Workspace } from '../workspaces/workspaces.ts';
import { readMe } from './me.ts';

const ROWS_A_PAGE = 200;
const MOST_MEMBERS = 1000;

// The tables of a board, by the name that the export gives each; attachments are large and go one at a time.
const OF_BOARD: ReadonlyArray<{ name: string; table: string; rows: number }> = [
  { name: 'columns', table: 'board_column', rows: ROWS_A_PAGE },
  { name: 'labels', table: 'label', rows: ROWS_A_PAGE },
  { name: 'milestones', table: 'milestone', rows: ROWS_A_PAGE },
  { name: 'customFields', table: 'custom_field', rows: ROWS_A_PAGE },
  { name: 'cardTemplates', table: 'card_template', rows: 20 },
  { name: 'cards', table: 'card', rows: 20 },
  { name: 'comments', table: 'comment', rows: ROWS_A_PAGE },
  { name: 'checklists', table: 'checklist', rows: ROWS_A_PAGE },
  { name: 'checklistItems', table: 'checklist_item', rows: ROWS_A_PAGE },
  { name: 'attachments', table: 'attachment', rows: 1 },
  { name: 'automations', table: 'automation', rows: ROWS_A_PAGE },
];

/** The export of an account, as pieces of one JSON document. */
export async function* exportAccount(service: KanbanService, accountId: string): AsyncGenerator<string> {
  const { user, memberships } = await readMe(service, accountId);
  yield `{"exportedAt":${JSON.stringify(new Date(service.platform.clock.now()))}`;
  yield `,"user":${JSON.stringify(user)},"memberships":${JSON.stringify(memberships)}`;
  yield ',"notifications":[';
  yield* rowsOf(service, 'notification', { column: 'account_id', id: accountId, rows: ROWS_A_PAGE });
  yield '],"workspaces":[';
  let cursor: string | undefined;
  let first = true;
  do {
    const page = await listWorkspaces(service, accountId, { limit: ROWS_A_PAGE, cursor });
    for (const workspace of page.items) {
      yield first ? '' : ',';
      first = false;
      yield* exportWorkspace(service, accountId, workspace);
    }
    cursor = page.nextCursor ?? undefined;
  } while (cursor !== undefined);
  yield ']}\n';
}

async function* exportWorkspace(
  service: KanbanService,
  accountId: string,
  workspace: Workspace,
): AsyncGenerator<string> {
  const members = await listMembers(service, accountId, workspace.id, { limit: MOST_MEMBERS });
  yield `{"workspace":${JSON.stringify(workspace)},"members":${JSON.stringify(members.items)},"boards":[`;
  const boards = await service.platform.database
    .selectFrom('board')
    .selectAll()
    .where('workspaceId', '=', workspace.id)
    .orderBy('id')
    .execute();
  for (const [index, board] of boards.entries()) {
    const { database } = service.platform;
    const keys = await database
      .selectFrom('boardKey')
      .select(['epoch', 'encBoardKey'])
      .where('boardId', '=', board.id)
      .orderBy('epoch')
      .execute();
    const { lastSeq: _, ...shown } = board;
    yield `${index > 0 ? ',' : ''}{"board":${JSON.stringify({ ...shown, encBoardKeys: keys })}`;
    for (const { name, table, rows } of OF_BOARD) {
      yield `,"${name}":[`;
      yield* rowsOf(service, table, { column: 'board_id', id: board.id, rows });
      yield ']';
    }
    for (const [name, table] of [
      ['cardLabels', 'card_label'],
      ['cardAssignees', 'card_assignee'],
      ['customFieldValues', 'card_field_value'],
    ] as const) {
      yield `,"${name}":`;
      yield JSON.stringify(await linksOf(service, table, board.id));
    }
    yield ',"activity":[';
    yield* activityOf(service, board.id);
    yield ']}';
  }
  yield ']}';
}

async function* rowsOf(
  { platform }: KanbanService,
  table: string,
  { column, id, rows: most }: { column: string; id: string; rows: number },
): AsyncGenerator<string> {
  let after = '';
  for (;;) {
    const { rows } = await sql<{ id: string }>`
      SELECT * FROM ${sql.table(table)} WHERE ${sql.ref(column)} = ${id} AND id > ${after}
      ORDER BY id LIMIT ${most}`.execute(platform.database);
    for (const [index, row] of rows.entries()) {
      yield `${after !== '' || index > 0 ? ',' : ''}${JSON.stringify(row)}`;
    }
    if (rows.length < most) return;
    after = rows.at(-1)?.id ?? '';
  }
}

async function* activityOf({ platform }: KanbanService, boardId: string): AsyncGenerator<string> {
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
    for (const row of rows) yield `${row.seq > 1 ? ',' : ''}${JSON.stringify(row)}`;
    if (rows.length < ROWS_A_PAGE) return;
    after = rows.at(-1)?.seq ?? after;
  }
}

async function linksOf(
  { platform }: KanbanService,
  table: string,
  boardId: string,
): Promise<Array<Record<string, unknown>>> {
  const { rows } = await sql<Record<string, unknown>>`
    SELECT link.* FROM ${sql.table(table)} AS link JOIN card ON card.id = link.card_id
    WHERE card.board_id = ${boardId} ORDER BY link.card_id`.execute(platform.database);
  return rows;
}
