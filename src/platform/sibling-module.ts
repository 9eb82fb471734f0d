// Worker threads are started from a file, and that file is .ts when we run from source and .js when compiled.
import { extname } from 'node:path';

/**
 * Resolves a module beside the calling one, in the form the caller itself runs in.
 *
 * @param importMetaUrl the caller's `import.meta.url`
 * @param specifier relative path without an extension, e.g. `./worker`
 */
export function siblingModule(importMetaUrl: string, specifier: string): URL {
  return new URL(`${specifier}${extname(new URL(importMetaUrl).pathname)}`, importMetaUrl);
}
