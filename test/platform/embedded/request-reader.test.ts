// Cutting a client's stream into units, whatever pieces it comes in.
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { ProtocolViolation, RequestReader } from '../../../src/platform/embedded/request-reader.ts';
import { encodeMessage, encodeParse, encodeQuery, encodeSync } from '../../../src/platform/embedded/wire.ts';

const LIMIT = 64 * 1024;
const execute = encodeMessage('E', Buffer.from([0, 0, 0, 0, 0]));
const flush = encodeMessage('H', Buffer.alloc(0));

/** Pushes a stream in pieces of the given lengths, the last of them taking the rest. */
function unitsOf(stream: Buffer, lengths: number[]): string[] {
  const reader = new RequestReader(LIMIT);
  const units: string[] = [];
  let start = 0;
  for (const length of [...lengths, stream.length]) {
    // A copy, as every chunk of a socket is memory of its own.
    for (const unit of reader.push(Buffer.from(stream.subarray(start, start + length)))) {
      units.push(`${unit.bytes.toString('latin1')}|${unit.refusals.length}|${unit.endsWithFlush}`);
    }
    start += length;
  }
  return units;
}

test('a stream gives the same units in whatever pieces it arrives', () => {
  const message = fc.constantFrom(
    encodeQuery('SELECT 1'),
    encodeParse('SELECT $1'),
    encodeParse('COPY t FROM STDIN'),
    encodeQuery('LISTEN a'),
    encodeMessage('B', Buffer.alloc(3000)),
    encodeMessage('d', Buffer.from('dropped')),
    execute,
    flush,
    encodeSync(),
  );
  const streams = fc.array(message, { maxLength: 15 }).map((messages) => Buffer.concat(messages));
  fc.assert(
    fc.property(
      streams,
      fc.array(fc.integer({ min: 1, max: 4000 }), { maxLength: 40 }),
      (stream, lengths) => {
        expect(unitsOf(stream, lengths)).toEqual(unitsOf(stream, []));
      },
    ),
  );
});

test('a unit ends with Query, Sync or Flush, and holds all messages since the last', () => {
  const parse = encodeParse('SELECT 1');
  const query = encodeQuery('SELECT 2');
  const units = new RequestReader(LIMIT).push(
    Buffer.concat([parse, execute, encodeSync(), query, parse, flush, execute]),
  );
  expect(units.map(({ bytes }) => bytes)).toEqual([
    Buffer.concat([parse, execute, encodeSync()]),
    query,
    Buffer.concat([parse, flush]),
  ]);
});

test('a refused statement is replaced, and what stands around it is kept', () => {
  const parse = encodeParse('SELECT 1');
  const [unit] = new RequestReader(LIMIT).push(
    Buffer.concat([parse, encodeParse('COPY t FROM STDIN'), execute, encodeSync()]),
  );
  expect(unit?.bytes).toEqual(
    Buffer.concat([parse, encodeParse('svc_refused_statement_0'), execute, encodeSync()]),
  );
  expect(unit?.refusals).toMatchObject([{ code: '0A000' }]);
});

test.each([
  [
    'one message over the limit, before it has arrived',
    [encodeMessage('B', Buffer.alloc(LIMIT)).subarray(0, 5)],
  ],
  ['many messages that pass the limit together', Array(100).fill(encodeMessage('B', Buffer.alloc(1000)))],
  ['many refused messages', Array(3000).fill(encodeParse('LISTEN a'))],
])('%s are refused instead of kept in memory', (_, chunks: Buffer[]) => {
  const reader = new RequestReader(LIMIT);
  expect(() => chunks.map((chunk) => reader.push(chunk))).toThrow(ProtocolViolation);
});
