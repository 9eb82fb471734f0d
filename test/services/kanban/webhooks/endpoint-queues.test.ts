// Which delivery starts next: endpoints take turns, and those that fail leave room for those that answer.
import { expect, test } from 'vitest';
import { createEndpointQueues } from '../../../../src/services/kanban/webhooks/dispatch/endpoint-queues.ts';
import type { Claimed } from '../../../../src/services/kanban/webhooks/dispatch/outbox.ts';

const LIMITS = { perEndpoint: 2, inAll: 10, enough: 3, batch: 5, mostWaiting: 8 };

function delivery(queue: string, seq: number): Claimed {
  const secret = Buffer.alloc(0);
  const target = { url: '', secret, previousSecret: null, previousSecretUntil: null };
  const state = { step: 0, firstAttemptAt: null, attemptCount: 0 };
  return { id: `${queue}${seq}`, queue, seq, verb: 'CARD_MOVED', body: '', ...target, ...state };
}

const started = (queues: ReturnType<typeof createEndpointQueues>) => {
  const ids: string[] = [];
  for (let next = queues.next(); next; next = queues.next()) ids.push(next.id);
  return ids;
};

test('endpoints take turns, each in order, each with one at first and more as they go well', () => {
  const queues = createEndpointQueues(LIMITS);
  queues.add([1, 2, 3, 4].flatMap((seq) => ['a', 'b'].map((queue) => delivery(queue, seq))));
  expect(started(queues)).toEqual(['a1', 'b1']);
  queues.ended('a', true);
  expect(started(queues)).toEqual(['a2', 'a3']);
  queues.ended('b', true);
  queues.ended('a', true);
  expect(started(queues)).toEqual(['b2', 'a4', 'b3']);
  expect(queues).toMatchObject({ waiting: 1, inFlight: 4 });
});

test('an endpoint that fails gets one at a time until it answers again', () => {
  const queues = createEndpointQueues(LIMITS);
  queues.add([1, 2, 3, 4, 5, 6, 7].map((seq) => delivery('a', seq)));
  started(queues);
  queues.ended('a', true);
  expect(started(queues)).toEqual(['a2', 'a3']);
  queues.ended('a', false);
  expect(started(queues)).toEqual([]);
  queues.ended('a', false);
  expect(started(queues)).toEqual(['a4']);
  queues.ended('a', true);
  expect(started(queues)).toEqual(['a5', 'a6']);
});

test('however many fail or have not answered yet, they share half of the room', () => {
  const queues = createEndpointQueues(LIMITS);
  queues.add([delivery('live', 1)]);
  started(queues);
  queues.ended('live', true);
  queues.add(Array.from({ length: 30 }, (_, number) => delivery(`dead${number}`, 1)));
  expect(started(queues)).toHaveLength(LIMITS.inAll / 2);
  queues.add([2, 3, 4].map((seq) => delivery('live', seq)));
  expect(started(queues)).toEqual(['live2', 'live3']);
  queues.ended('dead0', false);
  expect(started(queues)).toEqual(['dead51']);
});

test('what has not started can be taken out, of one or of all', () => {
  const queues = createEndpointQueues(LIMITS);
  queues.add([1, 2, 3, 4, 5].flatMap((seq) => ['a', 'b'].map((queue) => delivery(queue, seq))));
  started(queues);
  expect(queues.takeOut('a').map(({ id }) => id)).toEqual(['a2', 'a3', 'a4', 'a5']);
  expect(queues.takeOut().map(({ id }) => id)).toEqual(['b2', 'b3', 'b4', 'b5']);
  expect(queues).toMatchObject({ waiting: 0, inFlight: 2 });
});

test('an endpoint is given many when it answers well, else no more than the next one, and none when too many wait', () => {
  const queues = createEndpointQueues(LIMITS);
  expect([queues.room(), queues.room('a')]).toEqual([1, 1]);
  queues.add([delivery('a', 1)]);
  expect(queues.room('a')).toBe(0);
  started(queues);
  expect(queues.room('a')).toBe(0);
  queues.ended('a', false);
  expect(queues.room('a')).toBe(1);
  queues.add([delivery('a', 1)]);
  started(queues);
  queues.ended('a', true);
  expect(queues.room('a')).toBe(LIMITS.batch);
  queues.add([2, 3, 4, 5].map((seq) => delivery('a', seq)));
  expect(queues.room('a')).toBe(0);
  // However many those are that have not answered: they stop nobody who has.
  queues.add(Array.from({ length: 20 }, (_, number) => delivery(`dead${number}`, 1)));
  queues.takeOut('a');
  expect([queues.room(), queues.room('new'), queues.room('a')]).toEqual([0, 0, LIMITS.batch]);
});

test('what is not attempted after all leaves its place to others', () => {
  const queues = createEndpointQueues(LIMITS);
  queues.add([delivery('a', 1), delivery('a', 2)]);
  expect(queues.next()?.id).toBe('a1');
  queues.withdrawn('a');
  expect(queues.inFlight).toBe(0);
  expect(queues.next()?.id).toBe('a2');
});
