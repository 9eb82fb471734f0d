// QR codes of any length: as large as promised, with every module a square of whole pixels.
import jsqr from 'jsqr';
import { PNG } from 'pngjs';
import { expect, test } from 'vitest';
import { png } from '../../../src/services/links/qr/draw-qr.ts';

// The package is CommonJS, whose types promise an ES module.
const readQr = jsqr as unknown as typeof jsqr.default;

// From version 1 to 25; 85 to 106 characters were once drawn a pixel too small.
test.each([1, 14, 22, 43, 63, 85, 106, 107, 153, 214, 400, 700, 990])(
  'a text of %i characters is 512 × 512 and can be read',
  async (length) => {
    const text = `https://sho.rt/${'aB3-'.repeat(250)}`.slice(0, length);
    const image = PNG.sync.read(Buffer.from(await png(text)));
    expect([image.width, image.height]).toEqual([512, 512]);
    expect(readQr(new Uint8ClampedArray(image.data), 512, 512)?.data).toBe(text);
  },
);

test('the quiet zone is of four modules at least', async () => {
  const image = PNG.sync.read(Buffer.from(await png('https://sho.rt/abc')));
  const isDark = (x: number, y: number) => image.data[(y * image.width + x) * 4] !== 0xff;
  const first = Array.from({ length: 512 }, (_, at) => at).find((at) => isDark(at, at)) ?? 0;
  // The finder pattern begins there, and is of seven modules.
  const finder =
    Array.from({ length: 512 - first }, (_, at) => at).find((at) => !isDark(first + at, first)) ?? 0;
  expect(finder % 7).toBe(0);
  expect(first).toBeGreaterThanOrEqual((finder / 7) * 4);
});
