// The first and a later start of `svc serve` until it answers, against a process that opens a bare PGlite.
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { scratchFolder, startSvc } from '../support/processes.ts';
import { median, report } from '../support/report.ts';

const ROUNDS = 5;
const peer = fileURLToPath(new URL('../peers/bare-pglite.ts', import.meta.url));

export async function run(): Promise<void> {
  const [bareFirst, bareLater, first, later]: [number[], number[], number[], number[]] = [[], [], [], []];
  for (let round = 0; round < ROUNDS; round++) {
    const scratch = scratchFolder();
    const bare = join(scratch.path, 'bare');
    const env = { SVC_DATA_DIR: join(scratch.path, 'data') };
    bareFirst.push(openBare(bare));
    first.push(await startOnce(env));
    bareLater.push(openBare(bare));
    later.push(await startOnce(env));
    scratch.remove();
  }
  compare('first svc serve on an empty data folder', median(first), median(bareFirst), 1.2);
  compare('later svc serve on a filled one', median(later), median(bareLater), 2);
}

function openBare(folder: string): number {
  const startedAt = performance.now();
  const { status } = spawnSync(process.execPath, [peer, folder], { stdio: 'inherit' });
  if (status !== 0) throw new Error('the bare PGlite failed');
  return performance.now() - startedAt;
}

async function startOnce(env: Record<string, string>): Promise<number> {
  const startedAt = performance.now();
  const server = await startSvc({ env });
  const tookMs = performance.now() - startedAt;
  await server.stop();
  return tookMs;
}

function compare(name: string, ours: number, bare: number, atMost: number): void {
  report({
    name,
    ratio: ours / bare,
    limit: { atMost },
    detail: `${ours.toFixed(0)} ms, bare PGlite ${bare.toFixed(0)} ms`,
  });
}
