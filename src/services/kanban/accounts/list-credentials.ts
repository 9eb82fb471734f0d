// The WebAuthn credentials of an account, as it sees them: in pages, without their keys.
import type { KanbanService } from '../kanban-service.ts';
import { cursorKey, type Page, type PageRequest, pageOf } from '../pages.ts';
import type { WebauthnCredential } from './webauthn.ts';

/**
 * The credentials of an account, oldest first.
 *
 * @throws {KanbanError} BAD_REQUEST for a cursor that is none
 */
export async function listCredentials(
  { platform }: KanbanService,
  accountId: string,
  request: PageRequest,
): Promise<Page<WebauthnCredential>> {
  const after = cursorKey(request, 1);
  let query = platform.database
    .selectFrom('webauthnCredential')
    .select(['id', 'credentialId', 'transports', 'createdAt', 'lastUsedAt'])
    .where('accountId', '=', accountId)
    .orderBy('id')
    .limit(request.limit + 1);
  if (after) query = query.where('id', '>', after[0] ?? '');
  return pageOf(await query.execute(), request, ({ id }) => [id]);
}
