// The thread that turns long contents into markup: linear work, but more than an event loop should carry.
import { type RenderRequest, render } from './render.ts';
import { transferring } from './transfer.ts';

export default function run(request: RenderRequest): unknown {
  const rendering = render(request);
  return transferring(rendering, [rendering.bytes.buffer, rendering.lineStarts.buffer]);
}
