// Worker: draws QR codes. A picture takes milliseconds, which no event loop of a server has to spare.
import { create, toString as toText } from 'qrcode';
import { encodePng } from './encode-png.ts';

const SIZE_PX = 512;
// Modules of white around the code: fewer than 4 and some readers do not find it (ISO/IEC 18004).
const QUIET_ZONE = 4;

/** Draws a text as a PNG of 512 × 512, dark `#1b1b1d` on white (link-api.md, GET /links/:code/qr). */
export async function png(text: string): Promise<Uint8Array> {
  const { modules } = create(text, {});
  // Modules are squares of whole pixels; what is left over is white, on both sides.
  const scale = Math.floor(SIZE_PX / (modules.size + 2 * QUIET_ZONE));
  const margin = Math.floor((SIZE_PX - modules.size * scale) / 2);
  const moduleAt = (pixel: number) => Math.floor((pixel - margin) / scale);
  const isDark = (x: number, y: number) => {
    const [column, row] = [moduleAt(x), moduleAt(y)];
    const isInside = Math.min(column, row) >= 0 && Math.max(column, row) < modules.size;
    return isInside && modules.get(row, column) !== 0;
  };
  return encodePng({ size: SIZE_PX, isDark, light: [0xff, 0xff, 0xff], dark: [0x1b, 0x1b, 0x1d] });
}

/** Draws a text as an SVG document in the same colours. */
export async function svg(text: string): Promise<Uint8Array> {
  const drawn = await toText(text, {
    type: 'svg',
    margin: QUIET_ZONE,
    color: { dark: '#1b1b1d', light: '#ffffff' },
  });
  return Buffer.from(drawn);
}
