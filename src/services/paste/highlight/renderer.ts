// Renders short contents at once and long ones in a thread, so that no step on the event loop grows with the content.
import { Piscina } from 'piscina';
import { siblingModule } from '../../../platform/sibling-module.ts';
import { type Rendering, type RenderRequest, render } from './render.ts';

export interface RendererOptions {
  /** Contents of up to so many UTF-16 units are rendered by the caller's thread. */
  inPlaceLength: number;
  idleTimeoutMs: number;
}

export interface Renderer {
  render(request: RenderRequest): Promise<Rendering>;
  /** Lets what runs finish. */
  close(): Promise<void>;
}

/** Starts no thread yet. */
export function createRenderer(options: RendererOptions): Renderer {
  const pool = new Piscina<RenderRequest, Rendering>({
    filename: siblingModule(import.meta.url, './render-worker').href,
    minThreads: 0,
    maxThreads: 1,
    idleTimeout: options.idleTimeoutMs,
    recordTiming: false,
  });

  return {
    async render(request) {
      if (request.content.length <= options.inPlaceLength) return render(request);
      return pool.run(request);
    },
    close: () => pool.close(),
  };
}
