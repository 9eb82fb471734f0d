// Which delivery starts next: endpoints take turns, and those that fail leave room for those that answer.
import { expect, test } from 'vitest';
import type { Claimed } from '../../../../src/services/kanban/webhooks/dispatch/claims.ts';
import { createEndpointQueues } from '../../../../src/services/kanban/webhooks/dispatch/endpoint-queues.ts';

const LIMITS = { perEndpoint: 2, inAll: 10, enough: 3 };

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

test('endpoints take turns, each in order, each with few in flight', () => {
  const queues = createEndpointQueues(LIMITS);
  queues.add([1, 2, 3].flatMap((seq) => ['a', 'b'].map((queue) => delivery(queue, seq))));
  expect(started(queues)).toEqual(['a1', 'b1', 'a2', 'b2']);
  queues.ended('a', true);
  expect(started(queues)).toEqual(['a3']);
  expect(queues).toMatchObject({ waiting: 1, inFlight: 4 });
});

test('an endpoint that fails gets one at a time until it answers again', () => {
  const queues = createEndpointQueues(LIMITS);
  queues.add([1, 2, 3, 4, 5, 6].map((seq) => delivery('a', seq)));
  started(queues);
  queues.ended('a', false);
  expect(started(queues)).toEqual([]);
  queues.ended('a', false);
  expect(started(queues)).toEqual(['a3']);
  queues.ended('a', true);
  expect(started(queues)).toEqual(['a4', 'a5']);
});

test('however many fail, they share half of the room', () => {
  const queues = createEndpointQueues(LIMITS);
  for (let number = 0; number < 30; number++)
    queues.add([delivery(`dead${number}`, 1), delivery(`dead${number}`, 2)]);
  for (let round = 0; round < 10; round++)
    for (const id of started(queues)) queues.ended(id.slice(0, -1), false);
  queues.add(Array.from({ length: 30 }, (_, number) => delivery(`dead${number}`, 3)));
  expect(started(queues)).toHaveLength(LIMITS.inAll / 2);
  queues.add([1, 2, 3].map((seq) => delivery('live', seq)));
  expect(started(queues)).toEqual(['live1', 'live2']);
});

test('what has not started can be taken out, of one or of all', () => {
  const queues = createEndpointQueues(LIMITS);
  queues.add([1, 2, 3, 4, 5].flatMap((seq) => ['a', 'b'].map((queue) => delivery(queue, seq))));
  expect(queues.full()).toEqual(['a', 'b']);
  started(queues);
  expect(queues.takeOut('a').map(({ id }) => id)).toEqual(['a3', 'a4', 'a5']);
  expect(queues.full()).toEqual(['b']);
  expect(queues.takeOut().map(({ id }) => id)).toEqual(['b3', 'b4', 'b5']);
  expect(queues).toMatchObject({ waiting: 0, inFlight: 4 });
});
