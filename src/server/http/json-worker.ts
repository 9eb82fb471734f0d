// Runs in a worker thread: the heavy half of json-work.ts.
import { move } from 'piscina';
import { type Decoded, decodeForm, decodeJson } from './decode.ts';

export function json(bytes: Uint8Array): Decoded {
  return decodeJson(bytes);
}

export function form(bytes: Uint8Array): Decoded {
  return decodeForm(bytes);
}

export function encode(body: object): unknown {
  return move(new TextEncoder().encode(JSON.stringify(body)));
}
