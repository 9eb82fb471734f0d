// Lists of things on a board: by position, or in the order of their creation.
import { type Kysely, sql } from 'kysely';
import type { Tables } from '../../../platform/database/tables.ts';
import { type Row, requireBoard, type Target } from '../access.ts';
import type { KanbanService } from '../kanban-service.ts';
import { type Page, type PageRequest, readLargeRows } from '../pages.ts';

export interface ListRequest extends PageRequest {
  /** Whose: the board or card, and the column that names it. */
  of: Target & { column: 'boardId' | 'cardId' };
  /** Whether archived ones are among them, where there are such. */
  withArchived?: boolean;
}

interface Listed {
  table: string;
  order: readonly string[];
  /** What may hold much; the others are not worth counting. */
  texts: readonly string[];
  hasArchive?: boolean;
}

const BY_ID = ['id'];
const BY_POSITION = ['position', 'id'];

const LISTED = {
  column: { table: 'board_column', order: BY_POSITION, texts: ['encName'] },
  label: { table: 'label', order: BY_ID, texts: ['encName'] },
  milestone: { table: 'milestone', order: BY_ID, texts: ['encName'], hasArchive: true },
  cardTemplate: { table: 'card_template', order: BY_ID, texts: ['encName', 'encContent'] },
  customField: { table: 'custom_field', order: BY_POSITION, texts: ['encName', 'encOptions'] },
  comment: { table: 'comment', order: BY_ID, texts: ['encBody'] },
  automation: { table: 'automation', order: BY_ID, texts: ['encName'] },
  webhook: { table: 'webhook', order: BY_ID, texts: ['url'] },
} as const satisfies Record<string, Listed>;

export type ListedKind = keyof typeof LISTED;

/**
 * Lists what a member of the workspace may read.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a cursor that is none
 */
export async function listObjects<T extends Row>(
  { platform }: KanbanService,
  accountId: string,
  kind: ListedKind,
  request: ListRequest,
): Promise<Page<T>> {
  await requireBoard(platform.database, accountId, request.of);
  return readObjects(platform.database, kind, request);
}

/**
 * A page of things, for who may read them.
 *
 * @throws {KanbanError} BAD_REQUEST for a cursor that is none
 */
export function readObjects<T extends Row>(
  database: Kysely<Tables>,
  kind: ListedKind,
  { of, withArchived = false, ...request }: ListRequest,
): Promise<Page<T>> {
  const { table, order, texts, hasArchive = false }: Listed = LISTED[kind];
  const sizes = texts.map((name) => sql`coalesce(octet_length(${sql.ref(name)}), 0)`);
  return readLargeRows(
    database,
    {
      columns: sql`${sql.table(table)}.*`,
      table,
      where: sql`${sql.ref(of.column)} = ${of.id} ${hasArchive && !withArchived ? sql`AND NOT archived` : sql``}`,
      order,
      bytes: sql.join(sizes, sql` + `),
    },
    request,
  );
}
