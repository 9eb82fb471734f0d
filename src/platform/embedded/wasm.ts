// PGlite's WebAssembly, compiled apart from its start, so that the two can overlap with other work.
import { readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

/** V8 compiles on threads of its own. */
export async function compilePglite(): Promise<WebAssembly.Module> {
  const url = import.meta.resolve('@electric-sql/pglite/pglite.wasm');
  return WebAssembly.compile(await readFile(fileURLToPath(url)));
}
