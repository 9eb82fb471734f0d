// Streams of what happens on boards, as many as there are listeners. Each goes on from a number without a gap and
// without anything twice: messages say what is new, the activity has whatever a message did not bring.
import { sql } from 'kysely';
import { Batcher } from '../../../platform/batcher.ts';
import { messageOf } from '../../../platform/errors.ts';
import { requireBoard } from '../access.ts';
import type { Principal } from '../accounts/session-cache.ts';
import type { Activity } from '../boards/activity.ts';
import type { KanbanService } from '../kanban-service.ts';
import { type EndedAccess, hearOfEnds, stillAllowed } from './ended-access.ts';
import { boardChannel } from './ticks.ts';

/** Where a stream writes to. */
export interface StreamSink {
  /** Writes ticks, already encoded for everybody. Answers false while the reader does not keep up. */
  write(encoded: Uint8Array): boolean;
  /** Resolves when the reader has taken what was written; false when it will not. */
  drained(): Promise<boolean>;
  /** Says that nothing more comes. */
  end(): void;
}

export interface BoardStreams {
  /**
   * Prepares to follow a board; nothing is held until a sink is attached.
   *
   * @param after - number of the last tick that the listener has; undefined to start now
   * @throws {KanbanError} NOT_FOUND
   */
  follow(principal: Principal, boardId: string, after: number | undefined): Promise<Following>;
  close(): Promise<void>;
}

export interface Following {
  /** The number after which the stream begins. */
  startsAfter: number;
  /** Writes to the sink from now on; the answer stops that. */
  attach(sink: StreamSink): () => void;
}

interface Stream extends Principal {
  board: Board;
  boardId: string;
  sink: StreamSink;
  /** Number of the newest tick written to it. */
  sent: number;
  /** Whether the activity is read for it, or will be in a moment; what messages bring goes past it then. */
  isCatchingUp: boolean;
  isEnded: boolean;
}

interface Board {
  id: string;
  streams: Set<Stream>;
  /** The newest number heard of. */
  newest: number;
  /** Resolves with the subscription; the answer ends it. Undefined when it failed: no messages come. */
  subscription: Promise<() => Promise<void>> | undefined;
}

const PAGE = 500;
const MOST_CHECKED_TOGETHER = 1_000;
// For what no message brought: the process that published died, or Redis was away.
const LOOK_EVERY_MS = 2_000;
const CHECK_ACCESS_EVERY_MS = 30_000;

/** Opens the streams of a process. `encode` makes what is written to every listener of a tick. */
export async function openBoardStreams(
  service: KanbanService,
  encode: (entry: Activity) => Uint8Array,
): Promise<BoardStreams> {
  const { database, ephemeral, log, metrics } = service.platform;
  const boards = new Map<string, Board>();
  let count = 0;
  let sinceCheck = 0;
  let isLooking = false;
  let mustLook = false;

  const end = (stream: Stream, isOver: boolean) => {
    if (stream.isEnded) return;
    stream.isEnded = true;
    metrics.kanbanStreams.set(--count);
    const { board } = stream;
    board.streams.delete(stream);
    if (board.streams.size === 0) {
      boards.delete(board.id);
      board.subscription?.then((unsubscribe) => unsubscribe()).catch(() => undefined);
    }
    if (isOver) stream.sink.end();
  };
  const boardOf = (id: string): Board => {
    const known = boards.get(id);
    if (known) return known;
    const board: Board = { id, streams: new Set(), newest: 0, subscription: undefined };
    boards.set(id, board);
    subscribe(board);
    return board;
  };
  /** Has messages about a board come; what was committed before they do is in the activity. */
  const subscribe = (board: Board) => {
    board.subscription = ephemeral.subscribe(boardChannel(board.id), (message) => hear(board, message));
    board.subscription.then(
      () => {
        for (const stream of board.streams) catchUp(stream);
      },
      () => {
        board.subscription = undefined;
      },
    );
  };
  const hear = (board: Board, message: string) => {
    const entries = JSON.parse(message) as Activity[];
    const encoded: Uint8Array[] = [];
    const first = entries[0]?.seq ?? 0;
    const last = entries.at(-1)?.seq ?? 0;
    board.newest = Math.max(board.newest, last);
    for (const stream of [...board.streams]) {
      if (stream.isCatchingUp) continue;
      if (first > stream.sent + 1) {
        catchUp(stream);
        continue;
      }
      for (const [index, entry] of entries.entries()) {
        if (entry.seq !== stream.sent + 1) continue;
        encoded[index] ??= encode(entry);
        stream.sent = entry.seq;
        if (stream.sink.write(encoded[index])) continue;
        catchUp(stream);
        break;
      }
    }
  };
  /** Reads on from the activity, at the pace of the listener, until there is nothing newer. */
  const catchUp = async (stream: Stream): Promise<void> => {
    if (stream.isCatchingUp || stream.isEnded) return;
    const { board } = stream;
    stream.isCatchingUp = true;
    try {
      do {
        if (!(await stream.sink.drained())) return end(stream, true);
        const heardOf = board.newest;
        const entries = await readAfter(service, stream.boardId, stream.sent);
        if (stream.isEnded) return;
        for (const entry of entries) {
          const keepsUp = stream.sink.write(encode(entry));
          stream.sent = entry.seq;
          if (!keepsUp && !(await stream.sink.drained())) return end(stream, true);
          if (stream.isEnded) return;
        }
        // A message during the read may tell of what is not in it; what was known before would be.
        if (entries.length === 0 && board.newest === heardOf) break;
      } while (stream.sent < board.newest);
    } catch (error) {
      // The next look tries again.
      log.debug({ error: messageOf(error) }, 'a stream could not read on');
    } finally {
      stream.isCatchingUp = false;
    }
  };
  /** Finds what messages did not bring: asks for the numbers of all boards that are listened to, in one statement. */
  const lookOnce = async () => {
    if (boards.size === 0) return;
    for (const board of boards.values()) if (!board.subscription && ephemeral.delivering) subscribe(board);
    const { rows } = await sql<{ id: string; lastSeq: number }>`
      SELECT board.id, board.last_seq FROM unnest(
        ${[...boards.keys()]}::text[], ${[...boards.values()].map(({ newest }) => newest)}::bigint[]
      ) AS known (id, newest) JOIN board USING (id) WHERE board.last_seq > known.newest`.execute(database);
    for (const { id, lastSeq } of rows) {
      const board = boards.get(id);
      if (board) board.newest = Math.max(board.newest, lastSeq);
    }
    // Of all boards: a read that failed has left its stream behind a number that is known.
    for (const stream of all()) if (stream.sent < stream.board.newest) catchUp(stream);
  };
  /** Looks; while a look is under way, once more after it: it may have asked too early. */
  const look = async () => {
    mustLook = true;
    if (isLooking) return;
    isLooking = true;
    try {
      while (mustLook) {
        mustLook = false;
        await lookOnce();
      }
    } catch (error) {
      log.debug({ error: messageOf(error) }, 'looking for new activity failed');
    } finally {
      isLooking = false;
    }
  };
  /** Ends the streams of those who may not listen any more; of all, when that cannot be found out. */
  const checkAccess = async (streams: readonly Stream[]) => {
    if (streams.length === 0) return;
    const allowed = await stillAllowed(service, streams).catch((error: unknown) => {
      log.warn({ error: messageOf(error) }, 'access of open streams could not be checked; they were ended');
      return new Set<Stream>();
    });
    for (const stream of streams) if (!allowed.has(stream)) end(stream, true);
  };
  const all = () => [...boards.values()].flatMap(({ streams }) => [...streams]);
  // After a restart many listeners come at once.
  const firstChecks = new Batcher<Stream, boolean>({
    run: async (streams) => {
      await checkAccess(streams);
      return streams.map(({ isEnded }) => !isEnded);
    },
    concurrency: 1,
    maxBatch: MOST_CHECKED_TOGETHER,
  });
  const stopHearing = await hearOfEnds(service, ({ accountId }: EndedAccess) => {
    checkAccess(all().filter((stream) => accountId === undefined || stream.accountId === accountId));
  });
  // Changes may have been missed, and ends of access.
  const stopResuming = ephemeral.onResumed(() => {
    look();
    checkAccess(all());
  });
  const timer = setInterval(() => {
    if (!isLooking) look();
    sinceCheck += LOOK_EVERY_MS;
    if (sinceCheck < CHECK_ACCESS_EVERY_MS) return;
    sinceCheck = 0;
    checkAccess(all());
  }, LOOK_EVERY_MS).unref();
  /** Starts to write to a stream. */
  const begin = async (stream: Stream) => {
    // Access may have ended after the request was let in and before an end could find the stream: nothing is written
    // before that is known. Without a subscription the looks bring everything, later.
    await Promise.all([firstChecks.add(stream), stream.board.subscription?.catch(() => undefined)]);
    stream.isCatchingUp = false;
    catchUp(stream);
  };

  return {
    follow: async (principal, boardId, after) => {
      const { lastSeq } = await requireReadable(service, principal.accountId, boardId);
      // A number from another history than this one's begins now.
      const startsAfter = after === undefined || after > lastSeq ? lastSeq : after;
      return {
        startsAfter,
        attach: (sink) => {
          const board = boardOf(boardId);
          const { accountId, sessionId } = principal;
          const stream: Stream = {
            accountId,
            sessionId,
            board,
            boardId,
            sink,
            sent: startsAfter,
            isCatchingUp: true,
            isEnded: false,
          };
          board.streams.add(stream);
          board.newest = Math.max(board.newest, lastSeq);
          metrics.kanbanStreams.set(++count);
          begin(stream);
          return () => end(stream, false);
        },
      };
    },
    close: async () => {
      clearInterval(timer);
      stopResuming();
      await stopHearing().catch(() => undefined);
      for (const stream of all()) end(stream, true);
    },
  };
}

async function requireReadable(
  { platform }: KanbanService,
  accountId: string,
  boardId: string,
): Promise<{ lastSeq: number }> {
  const { database } = platform;
  await requireBoard(database, accountId, { kind: 'board', id: boardId });
  const row = await database
    .selectFrom('board')
    .select('lastSeq')
    .where('id', '=', boardId)
    .executeTakeFirst();
  return { lastSeq: row?.lastSeq ?? 0 };
}

async function readAfter({ platform }: KanbanService, boardId: string, seq: number): Promise<Activity[]> {
  return platform.database
    .selectFrom('activity')
    .selectAll()
    .where('boardId', '=', boardId)
    .where('seq', '>', seq)
    .orderBy('seq')
    .limit(PAGE)
    .execute();
}
