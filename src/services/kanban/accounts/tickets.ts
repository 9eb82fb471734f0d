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
  await platform.ephemeral.put(keyOf(ticket), JSON.stringify({ accountId, sessionId }), TICKET_MS);
  return { ticket, expiresAt: new Date(platform.clock.now() + TICKET_MS) };
}

/** Takes a ticket: of many who race with it, one gets its session. Undefined when it is unknown, used, or over. */
export async function takeTicket(
  { platform }: KanbanService,
  ticket: string,
): Promise<Principal | undefined> {
  const taken = await platform.ephemeral.take(keyOf(ticket));
  return taken === undefined ? undefined : (JSON.parse(taken) as Principal);
}

function keyOf(ticket: string): string {
  return `ticket:${hashToken(ticket).toString('base64url')}`;
}
