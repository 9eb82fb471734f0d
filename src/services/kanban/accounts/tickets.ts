// One-shot tickets for the relay: 30 seconds, one use, bound to a session (contract, section 5).
import { createToken, hashToken } from '../../../platform/tokens.ts';
import type { KanbanService } from '../kanban-service.ts';
import type { Principal } from './session-cache.ts';

const TICKET_MS = 30_000;

/** Makes a ticket. */
export async function issueTicket(
  { platform }: KanbanService,
  { accountId, sessionId }: Principal,
): Promise<{ ticket: string; expiresAt: Date }> {
  const ticket = createToken('kt_');
  const key = `ticket:${hashToken(ticket).toString('base64url')}`;
  await platform.ephemeral.put(key, JSON.stringify({ accountId, sessionId }), TICKET_MS);
  return { ticket, expiresAt: new Date(platform.clock.now() + TICKET_MS) };
}
