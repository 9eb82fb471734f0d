// The relay: routes ciphertext by room, and never looks past the room's name (kanban-api.md, WebSocket relay).
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { LRUCache } from 'lru-cache';
import { WebSocketServer } from 'ws';
import { messageOf } from '../../platform/errors.ts';
import type { Principal } from '../../services/kanban/accounts/session-cache.ts';
import { takeTicket } from '../../services/kanban/accounts/tickets.ts';
import { KanbanError, notFound } from '../../services/kanban/errors.ts';
import type { KanbanService } from '../../services/kanban/kanban-service.ts';
import { hearOfEnds, liveSessions, stillAllowed } from '../../services/kanban/live/ended-access.ts';
import { boardOfRoom } from '../../services/kanban/relay/rooms.ts';
import { Connection, type ConnectionHost } from './connection.ts';
import { openRooms } from './rooms.ts';
import { isOriginAccepted, refuseUpgrade } from './upgrade.ts';

export interface Relay {
  /** Takes over a request for an upgrade, whatever becomes of it. */
  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void;
  /** Closes every connection in order. */
  close(): Promise<void>;
}

const PATH = '/api/ws';
const MOST_FRAME_BYTES = 256 * 1024;
const PING_EVERY_MS = 25_000;
const BEATS = 25;
const CHECK_ACCESS_EVERY_MS = 30_000;
// Until a ticket has been looked at.
const UPGRADE_TIMEOUT_MS = 5_000;
// A ticket is good for 30 seconds: what ended longer ago had no session to make it.
const TICKET_REMEMBERED_MS = 40_000;
const MOST_ENDED = 100_000;
const CLOSE = { goingAway: 1001, signedOut: 4401 };

/** Opens the relay of a process. */
export async function openRelay(service: KanbanService): Promise<Relay> {
  const { config, ephemeral, log, metrics } = service.platform;
  const rooms = await openRooms(service.platform);
  const connections = new Set<Connection>();
  // A connection is asked for a sign of life once in 25 seconds, each second some of them.
  const groups = Array.from({ length: BEATS }, () => new Set<Connection>());
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    maxPayload: MOST_FRAME_BYTES,
    perMessageDeflate: false,
  });
  let turn = 0;
  let sinceCheck = 0;
  let isClosing = false;

  const host: ConnectionHost = {
    enter: async (connection, name) => {
      const boardId = await boardOfRoom(service, connection.principal.accountId, name);
      return rooms.join(name, boardId, connection);
    },
    requireAccess: async ({ principal }, { boardId }) => {
      const allowed = await stillAllowed(service, [{ ...principal, boardId }]);
      if (allowed.size === 0) throw notFound();
    },
    leave: (connection, room) => rooms.leave(room, connection),
    relay: (room, sender, payload) => {
      metrics.relayFrames.inc();
      rooms.relay(room, sender, payload);
    },
    refusalOf: (error) => {
      if (error instanceof KanbanError) return { code: error.code, message: error.message };
      log.warn({ error: messageOf(error) }, 'a room could not be joined');
      return undefined;
    },
    closed: (connection) => {
      connections.delete(connection);
      for (const group of groups) if (group.delete(connection)) break;
      metrics.relayConnections.set(connections.size);
    },
    tooSlow: () => metrics.relayDropped.inc(),
  };

  /** Ends what is open of those who may not have it open any more; all of it, when that cannot be found out. */
  const checkAccess = async (concerned: readonly Connection[]) => {
    if (concerned.length === 0) return;
    for (const connection of concerned) connection.accessChecks++;
    try {
      const sessions = await liveSessions(service, [
        ...new Set(concerned.map(({ principal }) => principal.sessionId)),
      ]);
      const places = concerned.flatMap((connection) =>
        [...connection.rooms.values()].map((room) => ({
          ...connection.principal,
          boardId: room.boardId,
          connection,
          room,
        })),
      );
      const allowed = await stillAllowed(service, places);
      for (const connection of concerned) {
        if (!sessions.has(connection.principal.sessionId)) connection.close(CLOSE.signedOut, 'signed out');
      }
      for (const place of places) if (!allowed.has(place)) place.connection.expel(place.room);
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'access of connections could not be checked; they were closed');
      for (const connection of concerned) connection.close(CLOSE.goingAway, 'access cannot be checked');
    }
  };
  const endedLately = new LRUCache<string, number>({ max: MOST_ENDED, ttl: TICKET_REMEMBERED_MS });
  let ends = 0;
  /** Since when this process hears of every end. */
  let hearing = { since: performance.now(), interruptions: ephemeral.interruptions };
  const stopHearing = await hearOfEnds(service, ({ accountId }) => {
    if (accountId !== undefined) endedLately.set(accountId, ++ends);
    checkAccess(
      [...connections].filter(
        ({ principal }) => accountId === undefined || principal.accountId === accountId,
      ),
    );
  });
  const stopResuming = ephemeral.onResumed(() => {
    hearing = { since: performance.now(), interruptions: ephemeral.interruptions };
    checkAccess([...connections]);
  });
  const timer = setInterval(() => {
    turn = (turn + 1) % BEATS;
    for (const connection of groups[turn] ?? []) connection.beat();
    sinceCheck += PING_EVERY_MS / BEATS;
    // While messages are lost nobody hears that access has ended.
    if (ephemeral.delivering && sinceCheck < CHECK_ACCESS_EVERY_MS) return;
    sinceCheck = 0;
    checkAccess([...connections]);
  }, PING_EVERY_MS / BEATS).unref();

  const admit = async (request: IncomingMessage): Promise<Principal | number> => {
    const url = URL.parse(request.url ?? '/', 'http://relay');
    if (url?.pathname !== PATH) return 404;
    if (isClosing) return 503;
    if (!isOriginAccepted(request.headers, [config.kanban.url, config.relay.url])) return 403;
    const ticket = url.searchParams.get('t');
    if (!ticket) return 401;
    const principal = await takeTicket(service, ticket);
    if (!principal) return 401;
    if (isSessionSure(principal)) return principal;
    // An end that is heard of meanwhile finds no connection yet.
    for (;;) {
      const ended = endedLately.get(principal.accountId);
      const sessions = await liveSessions(service, [principal.sessionId]);
      if (!sessions.has(principal.sessionId)) return 401;
      if (ended === endedLately.get(principal.accountId)) return principal;
    }
  };
  /** Whether no session of theirs can have ended since the ticket was made, unheard by this process. */
  const isSessionSure = ({ accountId }: Principal) =>
    ephemeral.delivering &&
    ephemeral.interruptions === hearing.interruptions &&
    performance.now() - hearing.since > TICKET_REMEMBERED_MS &&
    !endedLately.has(accountId);
  return {
    upgrade: (request, socket, head) => {
      const onError = () => socket.destroy();
      socket.on('error', onError);
      const timeout = setTimeout(() => refuseUpgrade(socket, 503), UPGRADE_TIMEOUT_MS);
      // Nobody reads from the socket meanwhile: what the client sends early is still there for the handshake.
      admit(request)
        .catch((error: unknown) => {
          log.warn({ error: messageOf(error) }, 'a ticket could not be looked at');
          return 503;
        })
        .then((answer) => {
          clearTimeout(timeout);
          if (socket.destroyed || socket.writableEnded) return;
          if (typeof answer === 'number') return refuseUpgrade(socket, answer);
          if (isClosing) return refuseUpgrade(socket, 503);
          server.handleUpgrade(request, socket, head, (ws) => {
            socket.off('error', onError);
            const peer = randomBytes(9).toString('base64url');
            const connection = new Connection(host, ws, socket as Socket, { peer, principal: answer });
            connections.add(connection);
            groups[turn]?.add(connection);
            metrics.relayConnections.set(connections.size);
          });
        });
    },
    close: async () => {
      if (isClosing) return;
      isClosing = true;
      clearInterval(timer);
      stopResuming();
      await stopHearing().catch(() => undefined);
      await rooms.close();
      for (const connection of connections) connection.close(CLOSE.goingAway, 'the relay is stopping');
    },
  };
}
