// A listener of server-sent events that a test can ask, and cut off.
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { until } from './serve.ts';

export interface Tick {
  id: number;
  // biome-ignore lint/suspicious/noExplicitAny: a test says by what it expects which form an entry has.
  data: any;
}

export interface Listener {
  status: number;
  headers: IncomingMessage['headers'];
  ticks: Tick[];
  /** The last id that came, with or without data. */
  lastEventId(): string;
  /** Comment lines so far. */
  comments(): number;
  /** Whether the server has ended the stream. */
  isEnded(): boolean;
  /** Waits until so many ticks have come. */
  arrived(count: number): Promise<Tick[]>;
  /** Stops reading from the socket, or goes on. */
  pause(): void;
  resume(): void;
  close(): void;
}

/** Opens a stream of a board. */
export function listen(
  { url }: { url: string },
  { boardId, cookie, lastEventId }: { boardId: string; cookie: string; lastEventId?: string },
): Promise<Listener> {
  return new Promise((resolve, reject) => {
    const outgoing: ClientRequest = request(`${url}/api/boards/${boardId}/live`, {
      headers: {
        cookie,
        accept: 'text/event-stream',
        ...(lastEventId !== undefined && { 'last-event-id': lastEventId }),
      },
    });
    outgoing.on('error', reject);
    outgoing.on('response', (incoming) => {
      const ticks: Tick[] = [];
      let [last, comments, isEnded, rest] = ['', 0, false, ''];
      incoming.setEncoding('utf8');
      incoming.on('data', (text: string) => {
        const blocks = (rest + text).split('\n\n');
        rest = blocks.pop() ?? '';
        for (const block of blocks) {
          const lines = block.split('\n').map((line) => line.split(/: ?(.*)/s, 2));
          const field = (name: string) => lines.find(([key]) => key === name)?.[1];
          comments += lines.filter(([key]) => key === '').length;
          last = field('id') ?? last;
          const data = field('data');
          if (field('event') === 'tick' && data !== undefined)
            ticks.push({ id: Number(last), data: JSON.parse(data) });
        }
      });
      const ended = () => {
        isEnded = true;
      };
      incoming.on('end', ended).on('close', ended).on('error', ended);
      resolve({
        status: incoming.statusCode ?? 0,
        headers: incoming.headers,
        ticks,
        lastEventId: () => last,
        comments: () => comments,
        isEnded: () => isEnded,
        arrived: async (count) => {
          await until(() => ticks.length >= count);
          return ticks;
        },
        pause: () => incoming.socket.pause(),
        resume: () => incoming.socket.resume(),
        close: () => outgoing.destroy(),
      });
    });
    outgoing.end();
  });
}
