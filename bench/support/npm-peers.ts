// Peers from npm: installed into a folder of their own the first time a benchmark wants them.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type RunningServer, startPeer } from './processes.ts';

const folder = fileURLToPath(new URL('../peers/npm', import.meta.url));

/** Installs the peers if they are not there. */
export function installPeers(): void {
  if (existsSync(`${folder}/node_modules/.package-lock.json`)) return;
  const { status } = spawnSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
    cwd: folder,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  if (status !== 0) throw new Error(`npm ci failed in ${folder}`);
}

/** Starts a server that is one of the peers. */
export function startNpmPeer(name: string, env: Record<string, string> = {}): Promise<RunningServer> {
  installPeers();
  return startPeer(`npm/${name}.js`, env);
}
