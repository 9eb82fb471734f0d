// Child processes of a benchmark: the real command, peers, and the servers they stand on.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import {
  findPostgres,
  findProgram,
  freePort,
  type PrivateService,
  startPostgres,
  startRedis,
} from '../../test/support/private-services.ts';

export const SVC = fileURLToPath(new URL('../../bin/svc.js', import.meta.url));
export const SECRET = 'a secret that only benchmarks know, 0123456789';

/** A PostgreSQL of its own that flushes to disk as a real one does. */
export function durablePostgres(): Promise<PrivateService> {
  const bin = findPostgres();
  if (!bin) throw new Error('PostgreSQL is not installed (Debian: postgresql)');
  return startPostgres(bin, [
    'fsync=on',
    'synchronous_commit=on',
    'shared_buffers=256MB',
    'max_wal_size=4GB',
  ]);
}

export function privateRedis(): Promise<PrivateService> {
  const program = findProgram(['redis-server', 'valkey-server']);
  if (!program) throw new Error('Redis is not installed (Debian: redis-server)');
  return startRedis(program);
}

/** A folder that is removed when the benchmark ends. */
export function scratchFolder(): { path: string; remove: () => void } {
  const path = mkdtempSync(join(tmpdir(), 'svc-bench-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

export interface RunningServer {
  url: string;
  /** Of the link service, where the command serves it. */
  linksUrl: string;
  /** Of the kanban service. */
  kanbanUrl: string;
  /** The relay, as a WebSocket address. */
  relayUrl: string;
  opsUrl: string;
  child: ChildProcess;
  stop(): Promise<void>;
}

export interface ServeOptions {
  env?: Record<string, string>;
  args?: string[];
  nodeArgs?: string[];
  /** One of the daemons instead of all in one. */
  daemon?: 'api' | 'relay' | 'scheduler';
}

/** Starts `svc serve` and waits until it is ready. */
export async function startSvc({
  env = {},
  args = [],
  nodeArgs = [],
  daemon,
}: ServeOptions): Promise<RunningServer> {
  const [port, linksPort, kanbanPort, relayPort, opsPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const child = spawn(process.execPath, [...nodeArgs, SVC, 'serve', daemon ?? '--no-scheduler', ...args], {
    env: {
      PATH: process.env.PATH ?? '',
      SVC_SECRET: SECRET,
      PASTE_PORT: String(port),
      LINKS_PORT: String(linksPort),
      KANBAN_PORT: String(kanbanPort),
      RELAY_PORT: String(relayPort),
      OPS_PORT: String(opsPort),
      LOG_LEVEL: 'warn',
      RATE_LIMIT_CREATE_PER_HOUR: '0',
      ...env,
    },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  await untilAnswers(`${opsUrl}/readyz`, child);
  return running(child, {
    url: `http://127.0.0.1:${port}`,
    linksUrl: `http://127.0.0.1:${linksPort}`,
    kanbanUrl: `http://127.0.0.1:${kanbanPort}`,
    relayUrl: `ws://127.0.0.1:${relayPort}/api/ws`,
    opsUrl,
  });
}

/** Starts a peer, a TypeScript file that listens on PORT. */
export async function startPeer(
  file: string,
  env: Record<string, string>,
  nodeArgs: string[] = [],
): Promise<RunningServer> {
  const port = await freePort();
  const path = fileURLToPath(new URL(`../peers/${file}`, import.meta.url));
  const child = spawn(process.execPath, [...nodeArgs, path], {
    env: { PATH: process.env.PATH ?? '', PORT: String(port), ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  const url = `http://127.0.0.1:${port}`;
  await untilAnswers(`${url}/`, child);
  return running(child, {
    url,
    linksUrl: url,
    kanbanUrl: url,
    relayUrl: url.replace('http', 'ws'),
    opsUrl: '',
  });
}

/** Waits until an address answers anything at all. */
export async function untilAnswers(url: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const answered = await fetch(url).then(
      () => true,
      () => false,
    );
    if (answered) return;
    await pause(5);
  }
  throw new Error(`the process for ${url} ended before it answered`);
}

function running(
  child: ChildProcess,
  addresses: Pick<RunningServer, 'url' | 'linksUrl' | 'kanbanUrl' | 'relayUrl' | 'opsUrl'>,
): RunningServer {
  return {
    ...addresses,
    child,
    stop: async () => {
      if (child.exitCode !== null) return;
      const ended = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await ended;
    },
  };
}

/** Runs the command to its end; throws when it fails. */
export async function svc(args: string[], env: Record<string, string>): Promise<void> {
  const child = spawn(process.execPath, [SVC, ...args], {
    env: { PATH: process.env.PATH ?? '', SVC_SECRET: SECRET, ...env },
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`svc ${args.join(' ')} ended with ${String(code)}`);
}
