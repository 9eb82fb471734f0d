// `npm run build`: compiles to dist/, copies what is not TypeScript, prepares the embedded database's first state.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, globSync, mkdirSync, rmSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
process.chdir(root);

rmSync('dist/src', { recursive: true, force: true });
rmSync('dist/migrations', { recursive: true, force: true });
run('node_modules/typescript/bin/tsc', ['-p', 'tsconfig.build.json']);
for (const asset of globSync('src/**/assets/*')) {
  const target = join('dist', asset);
  mkdirSync(dirname(target), { recursive: true });
  cpSync(asset, target);
}
// initdb takes seconds and its result depends on PGlite alone: it is made again only when that changed.
if (isOlder('dist/embedded-template', 'node_modules/@electric-sql/pglite/package.json')) {
  run('scripts/prepare-embedded.ts', []);
}

function isOlder(path: string, than: string): boolean {
  return !existsSync(path) || statSync(path).mtimeMs < statSync(than).mtimeMs;
}

function run(script: string, args: string[]): void {
  const { status } = spawnSync(process.execPath, [script, ...args], { stdio: 'inherit' });
  if (status !== 0) process.exit(status ?? 1);
}
