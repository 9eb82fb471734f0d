// The clipboard of the desktop, or over a terminal's own escape sequence where there is none (OSC 52, also over SSH).
import { messageOf } from '../platform/errors.ts';
import { note, type Terminal } from './terminal.ts';

/** Copies a text. Returns whether it could; says on stderr when not. */
export async function copyToClipboard(terminal: Terminal, text: string): Promise<boolean> {
  try {
    const { default: clipboard } = await import('clipboardy');
    await clipboard.write(text);
    return true;
  } catch (error) {
    if (terminal.stderr.isTTY) {
      terminal.stderr.write(`\u001b]52;c;${Buffer.from(text).toString('base64')}\u0007`);
      return true;
    }
    note(terminal, `svc: the address could not be copied: ${messageOf(error).split('\n')[0]}`);
    return false;
  }
}
