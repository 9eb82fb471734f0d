// What the front answers to bytes that no well-behaved driver sends, and to those that only some do.
import '../../support/short-lived-wasm.ts';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EmbeddedDatabase, openEmbeddedDatabase } from '../../../src/platform/embedded/open.ts';
import {
  encodeMessage,
  encodeParse,
  encodeQuery,
  encodeStartup,
  encodeSync,
  readErrorFields,
} from '../../../src/platform/embedded/wire.ts';
import { aScratchDirectory, errorCodeIn, RawConnection, typesOf } from './support.ts';

const scratch = aScratchDirectory();
let database: EmbeddedDatabase;
let host: string;

beforeAll(async () => {
  database = await openEmbeddedDatabase({
    dataDir: scratch.path,
    command: 'front-protocol.test',
    mode: 'own',
    silentTransactionTimeoutMs: 300,
  });
  host = database.connection.host;
});

afterAll(async () => {
  await database.close();
  scratch[Symbol.dispose]();
});

const bind = encodeMessage('B', Buffer.from([0, 0, 0, 0, 0, 0, 0, 0]));
const execute = encodeMessage('E', Buffer.from([0, 0, 0, 0, 0]));
const flush = encodeMessage('H', Buffer.alloc(0));
const terminate = encodeMessage('X', Buffer.alloc(0));

/** Parse, Bind and Execute of one statement, without Sync. */
function extended(sql: string): Buffer {
  return Buffer.concat([encodeParse(sql), bind, execute]);
}

/** Another client can still work. */
async function expectServing(): Promise<void> {
  const other = await RawConnection.begun(host);
  other.send(encodeQuery('SELECT 1'));
  expect(typesOf(await other.until('Z')).replaceAll('S', '')).toBe('TDCZ');
  other.socket.destroy();
}

/** An 8-byte first packet with a request code. */
function requestPacket(code: number): Buffer {
  const packet = Buffer.alloc(8);
  packet.writeUInt32BE(8, 0);
  packet.writeUInt32BE(code, 4);
  return packet;
}

describe('startup', () => {
  test('SSL and GSS encryption are declined with N, and the session begins after that', async () => {
    const connection = new RawConnection(host);
    const declined: string[] = [];
    for (const code of [80877103, 80877104]) {
      connection.socket.removeAllListeners('data');
      connection.send(requestPacket(code));
      declined.push(String(await new Promise((resolve) => connection.socket.once('data', resolve))));
    }
    expect(declined).toEqual(['N', 'N']);
    connection.send(encodeStartup({ user: 'postgres', database: 'postgres' }));
    const greeting: Buffer = await new Promise((resolve) => connection.socket.once('data', resolve));
    const text = greeting.toString('latin1').replaceAll('\0', ' ');
    expect(text).toMatch(/^R.*client_encoding UTF8 .*server_version 1\d\..*Z .*I$/s);
    connection.socket.destroy();
  });

  test('a startup packet that comes byte by byte is understood', async () => {
    const connection = new RawConnection(host);
    for (const byte of encodeStartup({ user: 'postgres', database: 'postgres' })) {
      connection.send(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(typesOf(await connection.until('Z'))).toMatch(/^RS+KZ$/);
    connection.socket.destroy();
  });

  test('a cancel request is closed without an answer', async () => {
    const connection = new RawConnection(host);
    connection.send(requestPacket(80877102));
    await connection.closed;
    expect(connection.messages).toEqual([]);
  });

  test.each([
    ['another database', { user: 'postgres', database: 'other' }, '3D000'],
    ['another user', { user: 'me', database: 'postgres' }, '28000'],
    [
      'a setting that would change answers',
      { user: 'postgres', database: 'postgres', search_path: 'x' },
      '0A000',
    ],
    ['another encoding', { user: 'postgres', database: 'postgres', client_encoding: 'LATIN1' }, '0A000'],
  ])('%s is refused and the connection closed', async (_, parameters, code) => {
    const connection = new RawConnection(host);
    connection.send(encodeStartup(parameters));
    await connection.closed;
    expect(errorCodeIn(connection.messages)).toBe(code);
  });

  test('a client of a newer minor version is told that it is 3.0', async () => {
    const connection = new RawConnection(host);
    const startup = encodeStartup({ user: 'postgres', database: 'postgres', '_pq_.new': '1' });
    startup.writeUInt16BE(2, 6);
    connection.send(startup);
    expect(typesOf(await connection.until('Z'))).toMatch(/^vRS+KZ$/);
    connection.socket.destroy();
  });

  test.each([
    ['an HTTP request', Buffer.from('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['zeroes', Buffer.alloc(64)],
    ['a packet that says it is 2 GiB long', Buffer.from([0x7f, 0xff, 0xff, 0xff, 0, 3, 0, 0])],
  ])('%s is refused as a protocol violation', async (_, bytes) => {
    const connection = new RawConnection(host);
    connection.send(bytes);
    await connection.closed;
    expect(errorCodeIn(connection.messages)).toBe('08P01');
  });

  test('half a startup packet and a closed connection disturb nobody', async () => {
    const connection = new RawConnection(host);
    connection.send(encodeStartup({ user: 'postgres', database: 'postgres' }).subarray(0, 11));
    connection.socket.end();
    await connection.closed;
    await expectServing();
  });
});

describe('messages', () => {
  test('pipelined batches are answered in order, each with its own errors', async () => {
    const connection = await RawConnection.begun(host);
    connection.send(
      extended('SELECT 1'),
      extended('SELECT 1/0'),
      extended('SELECT 2'),
      encodeSync(),
      encodeQuery('SELECT 3'),
      extended('SELECT 4'),
      encodeSync(),
    );
    const first = typesOf(await connection.until('Z'));
    const second = typesOf(await connection.until('Z'));
    const third = typesOf(await connection.until('Z'));
    expect([first, second, third].map((types) => types.replaceAll('S', ''))).toEqual([
      '12DC1EZ',
      'TDCZ',
      '12DCZ',
    ]);
    connection.socket.destroy();
  });

  test('a batch that fails before Sync is undone as a whole', async () => {
    const connection = await RawConnection.begun(host);
    connection.send(encodeQuery('CREATE TABLE batch (id int)'));
    await connection.until('Z');
    connection.send(
      extended('INSERT INTO batch VALUES (1)'),
      extended('COPY batch FROM STDIN'),
      encodeSync(),
    );
    expect(errorCodeIn(await connection.until('Z'))).toBe('0A000');
    connection.send(encodeQuery('SELECT * FROM batch'));
    expect(typesOf(await connection.until('Z'))).not.toContain('D');
    connection.socket.destroy();
  });

  test('Flush brings the answers so far, and nobody comes between until Sync', async () => {
    const connection = await RawConnection.begun(host);
    connection.send(encodeQuery('CREATE TABLE flushed (id int)'));
    await connection.until('Z');
    connection.send(extended('INSERT INTO flushed VALUES (1)'), flush);
    expect(typesOf(await connection.until('C'))).toBe('12C');
    const other = await RawConnection.begun(host);
    other.send(encodeQuery('SELECT * FROM flushed'));
    connection.send(extended('INSERT INTO flushed VALUES (2)'), encodeSync());
    await connection.until('Z');
    expect(typesOf(await other.until('Z'))).toContain('DD');
    connection.socket.destroy();
    other.socket.destroy();
  });

  test('a client that dies between Flush and Sync has done nothing', async () => {
    const connection = await RawConnection.begun(host);
    connection.send(encodeQuery('CREATE TABLE unfinished (id int)'));
    await connection.until('Z');
    connection.send(extended('INSERT INTO unfinished VALUES (1)'), flush);
    await connection.until('C');
    connection.socket.destroy();
    const other = await RawConnection.begun(host);
    other.send(encodeQuery('SELECT * FROM unfinished'));
    expect(typesOf(await other.until('Z'))).not.toContain('D');
    other.socket.destroy();
  });

  test('a client that is silent between Flush and Sync is dropped', async () => {
    const connection = await RawConnection.begun(host);
    connection.send(extended('SELECT 1'), flush);
    await connection.closed;
    expect(errorCodeIn(connection.messages)).toBe('25P03');
    await expectServing();
  });

  test('a statement parsed before a Sync is not taken for one of another client after it', async () => {
    const mine = await RawConnection.begun(host);
    const theirs = await RawConnection.begun(host);
    mine.send(encodeParse("SELECT 'mine'"), encodeSync());
    await mine.until('Z');
    theirs.send(extended("SELECT 'theirs'"), encodeSync());
    await theirs.until('Z');
    mine.send(bind, execute, encodeSync());
    expect(errorCodeIn(await mine.until('Z'))).toBe('26000');
    mine.socket.destroy();
    theirs.socket.destroy();
  });

  test('a statement parsed in a transaction may be bound later in it', async () => {
    const connection = await RawConnection.begun(host);
    connection.send(encodeQuery('BEGIN'));
    await connection.until('Z');
    connection.send(encodeParse('SELECT 1'), encodeSync());
    await connection.until('Z');
    connection.send(bind, execute, encodeSync());
    expect(typesOf(await connection.until('Z')).replaceAll('S', '')).toBe('2DCZ');
    connection.socket.destroy();
  });

  test('the function call protocol is refused, and the session goes on', async () => {
    const connection = await RawConnection.begun(host);
    connection.send(encodeMessage('F', Buffer.alloc(10)), encodeQuery('SELECT 1'));
    expect(errorCodeIn(await connection.until('Z'))).toBe('0A000');
    expect(typesOf(await connection.until('Z'))).toContain('D');
    connection.socket.destroy();
  });

  test('requests before Terminate are still carried out', async () => {
    const connection = await RawConnection.begun(host);
    connection.send(encodeQuery('CREATE TABLE last_words (id int)'), terminate);
    await connection.closed;
    expect(typesOf(connection.messages)).toContain('C');
    const other = await RawConnection.begun(host);
    other.send(encodeQuery('SELECT * FROM last_words'));
    expect(errorCodeIn(await other.until('Z'))).toBeUndefined();
    other.socket.destroy();
  });

  test.each([
    ['an unknown message type', encodeMessage('z', Buffer.from('abc')), '08P01'],
    ['a length under the least', Buffer.from([0x51, 0, 0, 0, 1]), '08P01'],
    ['a length over the limit', Buffer.from([0x51, 0x7f, 0xff, 0xff, 0xff]), '54000'],
  ])("%s ends the connection with a reason, and nobody else's", async (_, bytes, code) => {
    const connection = await RawConnection.begun(host);
    connection.send(bytes);
    await connection.closed;
    expect(errorCodeIn(connection.messages)).toBe(code);
    await expectServing();
  });

  test.each([
    ['Bind', encodeMessage('B', Buffer.from([0, 0, 0, 9]))],
    ['Parse', encodeMessage('P', Buffer.from([0, 65]))],
    ['Execute', encodeMessage('E', Buffer.from([1]))],
    ['Describe', encodeMessage('D', Buffer.alloc(0))],
    ['Close', encodeMessage('C', Buffer.from('zz'))],
    ['Query', encodeMessage('Q', Buffer.from('SELECT 1'))],
  ])('a malformed %s is an error of its client alone', async (_, bytes) => {
    const connection = await RawConnection.begun(host);
    connection.send(encodeParse('SELECT 1'), bytes, encodeSync());
    expect(readErrorFields((await connection.until('E')).at(-1)?.body ?? Buffer.alloc(0)).get('S')).toBe(
      'ERROR',
    );
    connection.socket.destroy();
    await expectServing();
  });

  test('a reader that stopped reading does not stop the others', async () => {
    const slow = await RawConnection.begun(host);
    slow.socket.pause();
    for (let turn = 0; turn < 3; turn += 1) slow.send(encodeQuery("SELECT repeat('x', 4000000)"));
    await expectServing();
    slow.socket.resume();
    for (let turn = 0; turn < 3; turn += 1) {
      expect((await slow.until('Z')).find(({ type }) => type === 'D')?.body.length).toBeGreaterThan(
        4_000_000,
      );
    }
    slow.socket.destroy();
  });
});
