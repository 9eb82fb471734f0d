// `GET /api/boards/{id}/live`: the ticks of a board as server-sent events (HTML standard, section 9.2).
import type { ServerResponse } from 'node:http';
import { z } from 'zod';
import type { Activity } from '../../services/kanban/boards/activity.ts';
import type { KanbanService } from '../../services/kanban/kanban-service.ts';
import {
  type BoardStreams,
  openBoardStreams,
  type StreamSink,
} from '../../services/kanban/live/board-streams.ts';
import type { Route } from '../http/route.ts';
import { idParam } from './fields.ts';
import { signedIn } from './routes.ts';

export interface LiveStreams {
  route: Route;
  close(): Promise<void>;
}

const HEARTBEAT_MS = 15_000;
// Of what a reader has not taken; then it is dropped, and comes back for the rest.
const MOST_UNSENT_BYTES = 1_048_576;
const DRAIN_MS = 5_000;
// A browser comes back after so long.
const RETRY_MS = 2_000;
const HEARTBEAT = Buffer.from(':\n\n');

/** A tick as it goes over the wire: `data` is the entry of the activity. */
function encodeTick({ id, seq, verb, boardId, cardId, actorId, timestamp, metadata }: Activity): Buffer {
  const data = JSON.stringify({ id, seq, verb, boardId, cardId, actorId, timestamp, metadata });
  return Buffer.from(`event: tick\nid: ${seq}\ndata: ${data}\n\n`);
}

/** Opens the streams of a process, and defines their route. */
export async function openLiveStreams(service: KanbanService): Promise<LiveStreams> {
  const streams = await openBoardStreams(service, encodeTick);
  const heart = startHeart();
  return {
    route: liveRoute(service, streams, heart),
    close: async () => {
      heart.stop();
      await streams.close();
    },
  };
}

function liveRoute(service: KanbanService, streams: BoardStreams, heart: Heart): Route {
  return signedIn(service, 'reads', {
    method: 'GET',
    path: '/boards/{id}/live',
    operationId: 'followBoard',
    summary: 'Follow a board',
    description:
      'Server-sent events: `event: tick`, `id:` the number of the entry, `data:` the entry of the activity. Starts now; with `Last-Event-ID` after that entry, and nothing is missed or comes twice. A comment line every 15 seconds.',
    params: idParam,
    query: z.object({
      lastEventId: z
        .string()
        .optional()
        .meta({ description: 'As the header `Last-Event-ID`, for clients that cannot set it.' }),
    }),
    requestHeaders: { 'Last-Event-ID': 'Number of the last tick that arrived.' },
    replies: { 200: { description: 'The stream.', contentType: 'text/event-stream' } },
    handler: async ({ principal, params, query, context }) => {
      const after = numberIn(context.headers['last-event-id'] ?? query.lastEventId);
      const { startsAfter, attach } = await streams.follow(principal, params.id, after);
      if (context.isHead) return { status: 200, headers: HEADERS, body: '' };
      return {
        status: 200,
        headers: HEADERS,
        takeOver: (response) => {
          // An id without data: who is cut off before the first tick comes back with it all the same.
          response.write(`retry: ${RETRY_MS}\nid: ${startsAfter}\n\n`);
          heart.add(response);
          const stop = attach(sinkOf(response, heart));
          response.once('close', () => {
            heart.remove(response);
            stop();
          });
        },
      };
    },
  });
}

const HEADERS = { 'content-type': 'text/event-stream; charset=utf-8', 'x-accel-buffering': 'no' };

function numberIn(header: string | string[] | undefined): number | undefined {
  const text = Array.isArray(header) ? header[0] : header;
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function sinkOf(response: ServerResponse, heart: Heart): StreamSink {
  return {
    write: (encoded) => {
      const keepsUp = response.write(encoded);
      if (response.writableLength > MOST_UNSENT_BYTES) response.destroy();
      return keepsUp;
    },
    drained: () =>
      new Promise((resolve) => {
        if (response.destroyed) return resolve(false);
        if (!response.writableNeedDrain) return resolve(true);
        const settle = (isTaken: boolean) => {
          clearTimeout(timer);
          response.off('drain', onDrain).off('close', onClose);
          if (!isTaken) response.destroy();
          resolve(isTaken);
        };
        const onDrain = () => settle(true);
        const onClose = () => settle(false);
        const timer = setTimeout(onClose, DRAIN_MS);
        response.once('drain', onDrain).once('close', onClose);
      }),
    end: () => {
      // A beat after the end would be an error that nobody catches.
      heart.remove(response);
      response.end();
      // Who does not read would keep what was ended.
      const timer = setTimeout(() => response.destroy(), DRAIN_MS).unref();
      response.once('close', () => clearTimeout(timer));
    },
  };
}

interface Heart {
  add(response: ServerResponse): void;
  remove(response: ServerResponse): void;
  stop(): void;
}

/** A comment line for every stream every 15 seconds, spread over them: one timer for all. */
function startHeart(): Heart {
  const beats = 15;
  const groups = Array.from({ length: beats }, () => new Set<ServerResponse>());
  let turn = 0;
  const timer = setInterval(() => {
    turn = (turn + 1) % beats;
    for (const response of groups[turn] ?? []) {
      if (response.writableLength > MOST_UNSENT_BYTES) response.destroy();
      else response.write(HEARTBEAT);
    }
  }, HEARTBEAT_MS / beats).unref();
  return {
    // The group whose turn has just been waits for the whole 15 seconds.
    add: (response) => groups[turn]?.add(response),
    remove: (response) => {
      for (const group of groups) if (group.delete(response)) return;
    },
    stop: () => clearInterval(timer),
  };
}
