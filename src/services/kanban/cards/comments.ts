// Comments. Who is mentioned is named in the body, since the server cannot read the text.

import { type Row, requireRole } from '../access.ts';
import { changeBoard } from '../boards/board-change.ts';
import { changeObject, deleteObject, insertObject } from '../boards/board-objects.ts';
import type { BoardChange } from '../boards/change.ts';
import { requireMembers } from '../boards/references.ts';
import { KanbanError } from '../errors.ts';
import type { KanbanService } from '../kanban-service.ts';

export interface NewComment {
  encBody: string;
  mentions?: string[] | undefined;
}

/**
 * Writes a comment; members who are mentioned are told.
 *
 * @throws {KanbanError} NOT_FOUND, BAD_REQUEST for a mention of who is no member
 */
export function createComment(
  service: KanbanService,
  accountId: string,
  cardId: string,
  { encBody, mentions = [] }: NewComment,
): Promise<Row> {
  return changeBoard(service, accountId, { kind: 'card', id: cardId }, async (change) => {
    const mentioned = [...new Set(mentions)];
    await requireMembers(change, mentioned, 'mentions');
    const comment = await insertObject(change, 'comment', {
      cardId,
      authorId: accountId,
      encBody,
      mentions: mentioned,
    });
    tell(change, comment, mentioned);
    return comment;
  });
}

/**
 * Changes a comment; who is mentioned for the first time is told.
 *
 * @throws {KanbanError} NOT_FOUND, FORBIDDEN for anyone but its author, BAD_REQUEST
 */
export function changeComment(
  service: KanbanService,
  accountId: string,
  commentId: string,
  { encBody, mentions }: { encBody?: string | undefined; mentions?: string[] | undefined },
): Promise<Row> {
  return changeBoard(service, accountId, { kind: 'comment', id: commentId }, async (change, row) => {
    if (row.authorId !== accountId) throw new KanbanError('FORBIDDEN', 'A comment is changed by its author.');
    const mentioned = mentions && [...new Set(mentions)];
    await requireMembers(change, mentioned ?? [], 'mentions');
    const comment = await changeObject(change, 'comment', row, { encBody, mentions: mentioned });
    const before = new Set(row.mentions as string[]);
    tell(
      change,
      comment,
      (mentioned ?? []).filter((id) => !before.has(id)),
    );
    return comment;
  });
}

/**
 * Removes a comment.
 *
 * @throws {KanbanError} NOT_FOUND, FORBIDDEN for anyone but its author and admins
 */
export async function deleteComment(
  service: KanbanService,
  accountId: string,
  commentId: string,
): Promise<void> {
  await changeBoard(service, accountId, { kind: 'comment', id: commentId }, async (change, row) => {
    if (row.authorId !== accountId) requireRole(change.role, 'admin');
    await deleteObject(change, 'comment', row);
  });
}

function tell(change: BoardChange, { id, cardId = '' }: Row, accountIds: readonly string[]): void {
  for (const accountId of accountIds) {
    change.notify({ accountId, kind: 'mention', cardId, commentId: id });
  }
}
