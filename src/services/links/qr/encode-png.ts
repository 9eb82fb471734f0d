// A PNG of two colours, one bit a pixel (PNG, third edition: https://www.w3.org/TR/png-3/).
import { crc32, deflateSync } from 'node:zlib';

export interface TwoColours {
  /** Pixels of each side, a multiple of 8. */
  size: number;
  isDark: (x: number, y: number) => boolean;
  /** Red, green, blue. */
  light: readonly [number, number, number];
  dark: readonly [number, number, number];
}

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const BIT_DEPTH = 1;
const INDEXED = 3;

/** Encodes a square picture. */
export function encodePng({ size, isDark, light, dark }: TwoColours): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(size, 0);
  header.writeUInt32BE(size, 4);
  header.set([BIT_DEPTH, INDEXED], 8);
  // Each row begins with its filter: none.
  const rowBytes = 1 + size / 8;
  const rows = Buffer.alloc(rowBytes * size);
  for (let y = 0; y < size; y++) {
    for (let x = 0; x < size; x++) {
      const place = y * rowBytes + 1 + (x >> 3);
      if (isDark(x, y)) rows.writeUInt8(rows.readUInt8(place) | (0x80 >> (x & 7)), place);
    }
  }
  return Buffer.concat([
    SIGNATURE,
    chunk('IHDR', header),
    chunk('PLTE', Buffer.from([...light, ...dark])),
    chunk('IDAT', deflateSync(rows)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.byteLength);
  const check = Buffer.alloc(4);
  check.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, check]);
}
