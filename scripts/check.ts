// `npm run check`: formatter and linter, types, the rules of the house, unused code; one line a step.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

process.chdir(fileURLToPath(new URL('..', import.meta.url)));

const steps: ReadonlyArray<readonly [name: string, command: string[]]> = [
  ['formatter and linter', ['biome', 'ci', '--error-on-warnings', '.']],
  ['types', ['tsc', '-p', '.']],
  ['structure', ['vitest', 'run', '--config', 'vitest.structure.config.ts']],
  ['unused code', ['knip']],
];

let failed = 0;
for (const [name, [program = '', ...args]] of steps) {
  const startedAt = performance.now();
  const { status, stdout, stderr } = spawnSync(`node_modules/.bin/${program}`, args, { encoding: 'utf8' });
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
  process.stdout.write(`${status === 0 ? 'ok    ' : 'FAILED'}  ${name} (${seconds} s)\n`);
  if (status === 0) continue;
  failed++;
  process.stdout.write(`${stdout}${stderr}\n`);
}
if (failed > 0) process.exitCode = 1;
