// Which claimed delivery starts next: endpoints take turns, each in the order of `seq`, each with few attempts in
// flight. An endpoint begins with one at a time, gets twice as many with each that goes well, and is back at one when it
// fails: those that do not answer can never take up the room of those that do.
import type { Claimed } from './outbox.ts';

export interface EndpointQueues {
  add(deliveries: readonly Claimed[]): void;
  /** The next one that may start; it counts as in flight until it has ended. */
  next(): Claimed | undefined;
  /** An attempt ended, well or not. */
  ended(queue: string, isWell: boolean): void;
  /** What was the next one is not attempted after all. */
  withdrawn(queue: string): void;
  /** Takes out what has not started: of one queue, or of all. */
  takeOut(queue?: string): Claimed[];
  /** How many a queue may be given; of one that is not known when it is not named. */
  room(queue?: string): number;
  /** Whether anything of a queue waits to be started. */
  isWaiting(queue: string): boolean;
  names(): string[];
  readonly waiting: number;
  readonly inFlight: number;
}

export interface QueueLimits {
  /** Attempts of one endpoint in flight. */
  perEndpoint: number;
  /** Attempts in flight in all; endpoints that have not answered well since they failed, or yet, share half of it. */
  inAll: number;
  /** With so many waiting a queue is full; otherwise it is given so many at once. */
  enough: number;
  batch: number;
  /** With so many waiting in all, endpoints that have not answered well are given none: they may be any number. */
  mostWaiting: number;
}

interface Queue {
  name: string;
  waiting: Claimed[];
  inFlight: number;
  /** Attempts that may be in flight. */
  window: number;
  /** Whether it has answered well since it failed, or at all. */
  isProven: boolean;
  /** Whether the attempt in flight is the one that will tell. */
  isProbing: boolean;
}

// Beyond these it is forgotten how endpoints answered.
const MOST_KNOWN = 10_000;

/** Makes the queues of a dispatcher. */
export function createEndpointQueues({
  perEndpoint,
  inAll,
  enough,
  batch,
  mostWaiting,
}: QueueLimits): EndpointQueues {
  const queues = new Map<string, Queue>();
  // Endpoints that may start an attempt, in the order of their turns: a Set keeps the order in which they joined.
  const proven = new Set<Queue>();
  const unproven = new Set<Queue>();
  let inFlight = 0;
  let probing = 0;
  let waiting = 0;

  const nextOf = (turns: Set<Queue>): Queue | undefined => turns.values().next().value;
  /** Puts an endpoint behind the others of its kind, if it may start anything. */
  const takeTurn = (queue: Queue) => {
    proven.delete(queue);
    unproven.delete(queue);
    if (queue.waiting.length > 0 && queue.inFlight < queue.window)
      (queue.isProven ? proven : unproven).add(queue);
  };
  const forgetIdle = (queue: Queue) => {
    if (queue.waiting.length === 0 && queue.inFlight === 0 && queues.size > MOST_KNOWN)
      queues.delete(queue.name);
  };
  const stopped = (queue: Queue) => {
    inFlight--;
    queue.inFlight--;
    if (queue.isProbing) probing--;
    queue.isProbing = false;
  };
  return {
    add: (deliveries) => {
      for (const delivery of deliveries) {
        let queue = queues.get(delivery.queue);
        if (!queue) {
          queue = {
            name: delivery.queue,
            waiting: [],
            inFlight: 0,
            window: 1,
            isProven: false,
            isProbing: false,
          };
          queues.set(delivery.queue, queue);
        }
        queue.waiting.push(delivery);
        waiting++;
        if (!proven.has(queue) && !unproven.has(queue)) takeTurn(queue);
      }
    },
    next: () => {
      if (inFlight >= inAll) return undefined;
      const queue = nextOf(proven) ?? (probing < inAll / 2 ? nextOf(unproven) : undefined);
      if (!queue) return undefined;
      const delivery = queue.waiting.shift() as Claimed;
      waiting--;
      inFlight++;
      queue.inFlight++;
      queue.isProbing = !queue.isProven;
      if (queue.isProbing) probing++;
      takeTurn(queue);
      return delivery;
    },
    ended: (name, isWell) => {
      const queue = queues.get(name);
      if (!queue) return;
      stopped(queue);
      queue.isProven = isWell;
      queue.window = isWell ? Math.min(perEndpoint, queue.window * 2) : 1;
      takeTurn(queue);
      forgetIdle(queue);
    },
    withdrawn: (name) => {
      const queue = queues.get(name);
      if (!queue) return;
      stopped(queue);
      takeTurn(queue);
      forgetIdle(queue);
    },
    takeOut: (name) => {
      const taken: Claimed[] = [];
      for (const queue of name === undefined ? [...queues.values()] : [queues.get(name)]) {
        if (!queue) continue;
        taken.push(...queue.waiting.splice(0));
        takeTurn(queue);
        forgetIdle(queue);
      }
      waiting -= taken.length;
      return taken;
    },
    room: (name) => {
      const queue = name === undefined ? undefined : queues.get(name);
      if (queue?.isProven) return queue.waiting.length < enough ? batch : 0;
      // One that has not answered well needs no more than the next one, once it has answered at all.
      const isBusy = queue && queue.waiting.length + queue.inFlight > 0;
      return waiting < mostWaiting && !isBusy ? 1 : 0;
    },
    isWaiting: (name) => (queues.get(name)?.waiting.length ?? 0) > 0,
    names: () => [...queues.keys()],
    get waiting() {
      return waiting;
    },
    get inFlight() {
      return inFlight;
    },
  };
}
