// Cuts a client's byte stream into units: what the backend may run in one go, up to Query, Sync or Flush.
import {
  forgottenStatementRefusal,
  functionCallRefusal,
  namedStatementRefusal,
  type Refusal,
  refusalOf,
} from './refusals.ts';
import { encodeParse, encodeQuery, HEADER_BYTES, readCString } from './wire.ts';

/** Messages of one client that the backend runs without anything of another client between them. */
export interface Unit {
  bytes: Buffer;
  /** What stands in `bytes` as a statement named by `refusalMarker(index)`, in their order. */
  refusals: Refusal[];
  /** It holds a Parse, so that the unnamed statement is this client's afterwards. */
  parses: boolean;
  /** It binds or describes the unnamed statement before it parses one itself. */
  usesEarlierStatement: boolean;
  /** It ends with Flush: no ReadyForQuery will come, the client means to go on. */
  endsWithFlush: boolean;
}

/** What a client sent cannot be understood or is too long: its connection ends. */
export class ProtocolViolation extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

const PROTOCOL_VIOLATION = '08P01';
const PROGRAM_LIMIT_EXCEEDED = '54000';
const EMPTY = Buffer.alloc(0);

/**
 * The statement that stands where a refused one was. It is no SQL, so the backend itself answers with an error:
 * it aborts the transaction and skips to Sync exactly as it must, and the front puts the reason into the answer.
 */
export function refusalMarker(index: number): string {
  return `svc_refused_statement_${index}`;
}

/** A unit that only tells its client that the statement it relies on was not kept. */
export function forgottenStatementUnit(unit: Unit): Unit {
  const tail = unit.bytes.subarray(unit.bytes.length - HEADER_BYTES);
  return {
    ...unit,
    bytes: Buffer.concat([encodeParse(refusalMarker(0)), tail]),
    refusals: [forgottenStatementRefusal],
    usesEarlierStatement: false,
  };
}

/** State between chunks: the bytes of the unit that is not complete yet. */
export class RequestReader {
  readonly #limitBytes: number;
  #buffer: Buffer = EMPTY;
  #end = 0;
  #scanned = 0;
  #unitStart = 0;
  #parts: Buffer[] = [];
  #partsBytes = 0;
  #refusals: Refusal[] = [];
  #parses = false;
  #usesEarlierStatement = false;
  #terminated = false;

  /** @param limitBytes the longest unit a client may send */
  constructor(limitBytes: number) {
    this.#limitBytes = limitBytes;
  }

  /** The client said that it is going; what comes after that is ignored. */
  get terminated(): boolean {
    return this.#terminated;
  }

  /**
   * Takes the next bytes of the stream.
   *
   * @returns the units they complete
   * @throws ProtocolViolation for a message that is none, or too long
   */
  push(chunk: Buffer): Unit[] {
    if (this.#terminated) return [];
    this.#append(chunk);
    const units: Unit[] = [];
    while (this.#end - this.#scanned >= HEADER_BYTES) {
      const length = this.#buffer.readUInt32BE(this.#scanned + 1);
      if (length < 4) throw new ProtocolViolation(PROTOCOL_VIOLATION, 'invalid message length');
      const end = this.#scanned + 1 + length;
      if (this.#partsBytes + end - this.#unitStart > this.#limitBytes) throw this.#tooLong();
      if (end > this.#end) break;
      const type = String.fromCharCode(this.#buffer[this.#scanned] ?? 0);
      if (type === 'X') {
        this.#terminated = true;
        break;
      }
      this.#take(type, this.#scanned, end);
      if (type === 'Q' || type === 'S' || type === 'H' || type === 'F') units.push(this.#finishUnit(type));
    }
    if (this.#unitStart === this.#end || this.#terminated) this.#release();
    return units;
  }

  #tooLong(): ProtocolViolation {
    const limit = `${Math.floor(this.#limitBytes / 1024)} KiB`;
    return new ProtocolViolation(PROGRAM_LIMIT_EXCEEDED, `a request is longer than the limit of ${limit}`);
  }

  #append(chunk: Buffer): void {
    if (this.#end === 0) {
      this.#buffer = chunk;
      this.#end = chunk.length;
      return;
    }
    const kept = this.#end - this.#unitStart;
    const needed = kept + chunk.length;
    if (this.#end + chunk.length > this.#buffer.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, Math.min(needed * 2, this.#limitBytes)));
      this.#buffer.copy(grown, 0, this.#unitStart, this.#end);
      this.#buffer = grown;
      this.#scanned -= this.#unitStart;
      this.#unitStart = 0;
      this.#end = kept;
    }
    chunk.copy(this.#buffer, this.#end);
    this.#end += chunk.length;
  }

  #release(): void {
    this.#buffer = EMPTY;
    this.#end = 0;
    this.#scanned = 0;
    this.#unitStart = 0;
  }

  /** Notes what one complete message means for the unit, and replaces it where it is refused. */
  #take(type: string, start: number, end: number): void {
    const refusal = this.#inspect(type, this.#buffer.subarray(start + HEADER_BYTES, end));
    this.#scanned = end;
    if (refusal === undefined) return;
    this.#keep(Buffer.from(this.#buffer.subarray(this.#unitStart, start)));
    this.#unitStart = end;
    if (refusal === 'drop') return;
    const marker = refusalMarker(this.#refusals.length);
    this.#keep(type === 'P' ? encodeParse(marker) : encodeQuery(marker));
    this.#refusals.push(refusal);
  }

  #keep(part: Buffer): void {
    if (part.length === 0) return;
    this.#parts.push(part);
    this.#partsBytes += part.length;
  }

  #inspect(type: string, body: Buffer): Refusal | 'drop' | undefined {
    switch (type) {
      case 'Q':
        return refusalOf(readCString(body, 0));
      case 'P':
        return this.#inspectParse(body);
      case 'B':
        // Portal name, then statement name.
        this.#noteStatementUse(body, body.indexOf(0) + 1);
        return undefined;
      case 'D':
        if (body[0] === 0x53) this.#noteStatementUse(body, 1);
        return undefined;
      case 'F':
        return functionCallRefusal;
      case 'E':
      case 'C':
      case 'S':
      case 'H':
        return undefined;
      case 'd':
      case 'c':
      case 'f':
        // Copy data after a refused COPY: PostgreSQL ignores it too.
        return 'drop';
      default:
        throw new ProtocolViolation(PROTOCOL_VIOLATION, 'invalid frontend message type');
    }
  }

  #inspectParse(body: Buffer): Refusal | undefined {
    this.#parses = true;
    const nameEnd = body.indexOf(0);
    if (nameEnd !== 0) return namedStatementRefusal;
    return refusalOf(readCString(body, nameEnd + 1));
  }

  #noteStatementUse(body: Buffer, nameOffset: number): void {
    if (!this.#parses && body[nameOffset] === 0) this.#usesEarlierStatement = true;
  }

  #finishUnit(type: string): Unit {
    const tail = this.#buffer.subarray(this.#unitStart, this.#scanned);
    const unit: Unit = {
      bytes: this.#parts.length === 0 ? tail : Buffer.concat([...this.#parts, tail]),
      refusals: this.#refusals,
      parses: this.#parses,
      usesEarlierStatement: this.#usesEarlierStatement,
      endsWithFlush: type === 'H',
    };
    this.#unitStart = this.#scanned;
    this.#parts = [];
    this.#partsBytes = 0;
    this.#refusals = [];
    this.#parses = false;
    this.#usesEarlierStatement = false;
    return unit;
  }
}
