// An address as a QR code in the terminal.

/** Draws a text with block characters. */
export async function drawQr(text: string): Promise<string> {
  const { toString: draw } = await import('qrcode');
  return draw(text, { type: 'utf8' });
}
