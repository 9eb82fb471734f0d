// How long the terminal takes, against `node -e 0` in the same run (hyperfine medians).
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { SVC, scratchFolder, startSvc } from '../support/processes.ts';
import { report } from '../support/report.ts';

export async function run(): Promise<void> {
  const scratch = scratchFolder();
  const server = await startSvc({ env: { SVC_DATA_DIR: join(scratch.path, 'data') } });
  try {
    const file = join(scratch.path, 'small.ts');
    const results = join(scratch.path, 'results.json');
    writeFileSync(file, 'export const answer = 42;\n');
    const node = process.execPath;
    execFileSync(
      'hyperfine',
      [
        '-N',
        '--warmup',
        '5',
        '--runs',
        '40',
        '--export-json',
        results,
        '--style',
        'none',
        `${node} -e 0`,
        `${node} ${SVC} --help`,
        `${node} ${SVC} paste ${file} --server ${server.url}`,
      ],
      { stdio: ['ignore', 'ignore', 'inherit'], env: { ...process.env, XDG_STATE_HOME: scratch.path } },
    );
    const measured: { results: Array<{ median: number }> } = JSON.parse(readFileSync(results, 'utf8'));
    const [bare = 0, help = 0, paste = 0] = measured.results.map(({ median }) => median * 1000);
    const against = `node -e 0 ${bare.toFixed(0)} ms`;
    report({
      name: 'svc --help',
      ratio: help / bare,
      limit: { atMost: 2 },
      detail: `${help.toFixed(0)} ms, ${against}`,
    });
    report({
      name: 'svc paste, round trip included',
      ratio: paste / bare,
      limit: { atMost: 4 },
      detail: `${paste.toFixed(0)} ms, ${against}`,
    });
  } finally {
    await server.stop();
    scratch.remove();
  }
}
