// The reference client as a browser loads it: one module, made from the sources.
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

/** Bundles the client. */
export async function bundleClient(): Promise<string> {
  const bundle = await rolldown({
    input: fileURLToPath(new URL('../../src/client/index.ts', import.meta.url)),
    platform: 'browser',
    logLevel: 'silent',
  });
  try {
    const { output } = await bundle.generate({ format: 'esm', codeSplitting: false });
    return output[0].code;
  } finally {
    await bundle.close();
  }
}
