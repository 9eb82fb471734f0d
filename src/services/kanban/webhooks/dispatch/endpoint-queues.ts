// Which claimed delivery starts next: endpoints take turns, each in the order of `seq`, each with few attempts in
// flight, and those that are failing can never take up the room of those that answer.
import type { Claimed } from './claims.ts';

export interface EndpointQueues {
  add(deliveries: readonly Claimed[]): void;
  /** The next one that may start; it counts as in flight until it has ended. */
  next(): Claimed | undefined;
  /** An attempt ended, well or not. */
  ended(queue: string, isWell: boolean): void;
  /** Takes out what has not started: of one queue, or of all. */
  takeOut(queue?: string): Claimed[];
  /** Queues that need no more for now. */
  full(): string[];
  /** Whether a queue is not full. */
  isLow(queue: string): boolean;
  readonly waiting: number;
  readonly inFlight: number;
}

export interface QueueLimits {
  /** Attempts of one endpoint in flight. */
  perEndpoint: number;
  /** Attempts in flight in all; endpoints that are failing share half of it. */
  inAll: number;
  /** With so many waiting a queue is full. */
  enough: number;
}

interface Queue {
  name: string;
  waiting: Claimed[];
  inFlight: number;
  isFailing: boolean;
  /** Whether the attempt in flight is the one that tells whether a failing endpoint has come back. */
  isProbing: boolean;
}

// Beyond these it is forgotten which endpoints failed last.
const MOST_KNOWN = 10_000;

/** Makes the queues of a dispatcher. */
export function createEndpointQueues({ perEndpoint, inAll, enough }: QueueLimits): EndpointQueues {
  const queues = new Map<string, Queue>();
  // Endpoints whose turn will come; a Set keeps the order in which they joined.
  const turns = new Set<Queue>();
  let inFlight = 0;
  let failing = 0;
  let waiting = 0;

  const canStart = (queue: Queue) =>
    queue.waiting.length > 0 &&
    (queue.isFailing ? queue.inFlight === 0 && failing < inAll / 2 : queue.inFlight < perEndpoint);
  const forgetIdle = (queue: Queue) => {
    const isWorthKnowing = queue.isFailing && queues.size <= MOST_KNOWN;
    if (queue.waiting.length === 0 && queue.inFlight === 0 && !isWorthKnowing) queues.delete(queue.name);
  };
  return {
    add: (deliveries) => {
      for (const delivery of deliveries) {
        let queue = queues.get(delivery.queue);
        if (!queue) {
          queue = { name: delivery.queue, waiting: [], inFlight: 0, isFailing: false, isProbing: false };
          queues.set(delivery.queue, queue);
        }
        queue.waiting.push(delivery);
        turns.add(queue);
        waiting++;
      }
    },
    next: () => {
      if (inFlight >= inAll) return undefined;
      for (const queue of turns) {
        if (!canStart(queue)) {
          // Whoever ends an attempt puts it back.
          if (queue.waiting.length === 0 || queue.inFlight > 0) turns.delete(queue);
          continue;
        }
        const delivery = queue.waiting.shift() as Claimed;
        waiting--;
        inFlight++;
        queue.inFlight++;
        queue.isProbing = queue.isFailing;
        if (queue.isProbing) failing++;
        turns.delete(queue);
        if (queue.waiting.length > 0) turns.add(queue);
        return delivery;
      }
      return undefined;
    },
    ended: (name, isWell) => {
      const queue = queues.get(name);
      if (!queue) return;
      inFlight--;
      queue.inFlight--;
      if (queue.isProbing) failing--;
      queue.isProbing = false;
      queue.isFailing = !isWell;
      if (queue.waiting.length > 0) turns.add(queue);
      forgetIdle(queue);
    },
    takeOut: (name) => {
      const taken: Claimed[] = [];
      for (const queue of name === undefined ? [...queues.values()] : [queues.get(name)]) {
        if (!queue) continue;
        taken.push(...queue.waiting.splice(0));
        turns.delete(queue);
        forgetIdle(queue);
      }
      waiting -= taken.length;
      return taken;
    },
    full: () =>
      [...queues.values()].filter((queue) => queue.waiting.length >= enough).map(({ name }) => name),
    isLow: (name) => (queues.get(name)?.waiting.length ?? 0) < enough,
    get waiting() {
      return waiting;
    },
    get inFlight() {
      return inFlight;
    },
  };
}
