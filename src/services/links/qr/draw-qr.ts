// Worker: draws QR codes. A PNG of 512 × 512 takes some 20 ms, which no event loop of a server has to spare.
import { toBuffer, toString as toText } from 'qrcode';

const SIZE_PX = 512;
// Modules of white around the code: fewer than 4 and some readers do not find it (ISO/IEC 18004).
const QUIET_ZONE = 4;

/** Draws a text as a PNG, dark `#1b1b1d` on white (link-api.md, GET /links/:code/qr). */
export async function png(text: string): Promise<Uint8Array> {
  return toBuffer(text, {
    width: SIZE_PX,
    margin: QUIET_ZONE,
    color: { dark: '#1b1b1dff', light: '#ffffffff' },
  });
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
