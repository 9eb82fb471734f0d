// Runs in a worker thread: the heavy half of json-work.ts.
import { move } from 'piscina';
import { type Decoded, decodeForm, decodeJson } from './decode.ts';

export function json({ bytes, fields }: { bytes: Uint8Array; fields: readonly string[] }): Decoded {
  return decodeJson(bytes, fields);
}

export function form({ bytes }: { bytes: Uint8Array }): Decoded {
  return decodeForm(bytes);
}

export function encode(body: object): unknown {
  return move(new TextEncoder().encode(JSON.stringify(body)));
}
