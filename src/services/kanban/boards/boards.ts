// Boards.
import { sql } from 'kysely';
import { createId } from '../../../platform/ids.ts';
import { requireBoard, requireRole, requireWorkspace } from '../access.ts';
import { notFound } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';
import { announceEnd } from '../live/ended-access.ts';
import { type Page, type PageRequest, readLargeRows } from '../pages.ts';
import { writeFarewells } from '../webhooks/write-deliveries.ts';
import { listMembers, type Member } from '../workspaces/members.ts';
import { requireKeyEpoch } from '../workspaces/workspaces.ts';
import { changeBoard } from './board-change.ts';
import { type ListedKind, readObjects } from './list-objects.ts';

export interface Board {
  id: string;
  workspaceId: string;
  encName: string;
  encDescription: string | null;
  /** Under the newest epoch. */
  encBoardKey: string;
  encBoardKeys: Array<{ epoch: number; encBoardKey: string }>;
  archived: boolean;
  createdAt: Date;
  updatedAt: Date;
}

export interface BoardWithContent extends Board {
  columns: Array<Record<string, unknown>>;
  labels: Array<Record<string, unknown>>;
  milestones: Array<Record<string, unknown>>;
  customFields: Array<Record<string, unknown>>;
  members: Member[];
}

export interface BoardChanges {
  encName?: string | undefined;
  encDescription?: string | null | undefined;
  archived?: boolean | undefined;
}

export interface NewBoard {
  encName: string;
  encDescription?: string | null | undefined;
  encBoardKey: string;
  /** Epoch of the workspace key that the board key is wrapped under; the current one when left out. */
  keyEpoch?: number | undefined;
}

// More of one kind than this, or than a page holds, is read from the lists of that kind.
const MOST_OF_A_KIND = 1000;

const BOARD = sql`
  board.id, board.workspace_id, board.enc_name, board.enc_description, board.archived, board.created_at,
  board.updated_at,
  (SELECT enc_board_key FROM board_key WHERE board_id = board.id ORDER BY epoch DESC LIMIT 1) AS enc_board_key,
  (SELECT json_agg(json_build_object('epoch', epoch, 'encBoardKey', enc_board_key) ORDER BY epoch)
    FROM board_key WHERE board_id = board.id) AS enc_board_keys`;

const BOARD_BYTES = sql`
  octet_length(board.enc_name) + coalesce(octet_length(board.enc_description), 0)
  + coalesce((SELECT sum(octet_length(enc_board_key)) FROM board_key WHERE board_id = board.id), 0)`;

/**
 * The boards of a workspace, oldest first.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a cursor that is none
 */
export async function listBoards(
  { platform }: KanbanService,
  accountId: string,
  workspaceId: string,
  { withArchived, ...request }: PageRequest & { withArchived: boolean },
): Promise<Page<Board>> {
  const { database } = platform;
  await requireWorkspace(database, accountId, workspaceId);
  const where = sql`workspace_id = ${workspaceId} ${withArchived ? sql`` : sql`AND NOT archived`}`;
  const boards = { columns: BOARD, table: 'board', where, order: ['id'], bytes: BOARD_BYTES };
  return readLargeRows(database, boards, request);
}

/**
 * A board with what is needed to show it, but for its cards.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export async function readBoard(
  service: KanbanService,
  accountId: string,
  boardId: string,
): Promise<BoardWithContent> {
  const { database } = service.platform;
  const { workspaceId } = await requireBoard(database, accountId, { kind: 'board', id: boardId });
  const of = async (kind: ListedKind) => {
    const board = { kind: 'board', id: boardId, column: 'boardId' } as const;
    return (await readObjects(database, kind, { of: board, limit: MOST_OF_A_KIND })).items;
  };
  const [board, columns, labels, milestones, customFields, members] = await Promise.all([
    findBoard(service, boardId),
    of('column'),
    of('label'),
    of('milestone'),
    of('customField'),
    listMembers(service, accountId, workspaceId, { limit: MOST_OF_A_KIND }),
  ]);
  return { ...board, columns, labels, milestones, customFields, members: members.items };
}

async function findBoard(
  { platform }: KanbanService,
  boardId: string,
  database = platform.database,
): Promise<Board> {
  const { rows } = await sql<Board>`SELECT ${BOARD} FROM board WHERE id = ${boardId}`.execute(database);
  const [board] = rows;
  if (!board) throw notFound();
  return board;
}

/**
 * Creates a board with its first key.
 *
 * @throws {KanbanError} NOT_FOUND, CONFLICT when the workspace key that wraps it was replaced
 */
export async function createBoard(
  service: KanbanService,
  accountId: string,
  workspaceId: string,
  { encName, encDescription = null, encBoardKey, keyEpoch }: NewBoard,
): Promise<Board> {
  const { clock, database } = service.platform;
  const now = new Date(clock.now());
  const id = createId(now.getTime());
  await database.transaction().execute(async (transaction) => {
    // Held, so that no rotation of keys runs past the new board.
    await requireWorkspace(transaction, accountId, workspaceId, true);
    await requireKeyEpoch(transaction, workspaceId, keyEpoch);
    await transaction
      .insertInto('board')
      .values({ id, workspaceId, encName, encDescription, lastSeq: 1, createdAt: now, updatedAt: now })
      .execute();
    await sql`
      INSERT INTO board_key (board_id, epoch, enc_board_key)
      SELECT ${id}, key_epoch, ${encBoardKey} FROM workspace WHERE id = ${workspaceId}`.execute(transaction);
    await transaction
      .insertInto('activity')
      .values({
        id: createId(now.getTime()),
        boardId: id,
        seq: 1,
        verb: 'BOARD_CREATED',
        cardId: null,
        actorId: accountId,
        timestamp: now,
        metadata: JSON.stringify({ boardId: id }),
      })
      .execute();
  });
  return findBoard(service, id);
}

/**
 * Changes a board.
 *
 * @throws {KanbanError} NOT_FOUND
 */
export async function changeBoardItself(
  service: KanbanService,
  accountId: string,
  boardId: string,
  changes: BoardChanges,
): Promise<Board> {
  return changeBoard(service, accountId, { kind: 'board', id: boardId }, async (change) => {
    const { transaction, now } = change;
    const before = await findBoard(service, boardId, transaction);
    const fields = (Object.keys(changes) as Array<keyof BoardChanges>).filter(
      (name) => changes[name] !== undefined && changes[name] !== before[name],
    );
    if (fields.length === 0) return before;
    await transaction
      .updateTable('board')
      .set({ ...changes, updatedAt: now })
      .where('id', '=', boardId)
      .execute();
    change.record({ verb: 'BOARD_UPDATED', metadata: { boardId, fields } });
    return findBoard(service, boardId, transaction);
  });
}

/**
 * Removes a board with all that is on it.
 *
 * @throws {KanbanError} NOT_FOUND, FORBIDDEN
 */
export async function deleteBoard(service: KanbanService, accountId: string, boardId: string): Promise<void> {
  const workspaceId = await changeBoard(
    service,
    accountId,
    { kind: 'board', id: boardId },
    async (change) => {
      const { transaction, now } = change;
      requireRole(change.role, 'admin');
      await writeFarewells(transaction, { boardIds: [boardId], actorId: accountId, now });
      await transaction.deleteFrom('board').where('id', '=', boardId).execute();
      return change.workspaceId;
    },
  );
  await announceEnd(service, { workspaceId });
}
