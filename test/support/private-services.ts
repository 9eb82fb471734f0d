// Private instances of PostgreSQL and Redis on free ports, from what is installed on this machine.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { chownSync, existsSync, globSync, mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';

export interface PrivateService {
  url: string;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again on the same port, with the same data. */
  start(): Promise<void>;
  /** Ends it for good and removes its data. */
  remove(): Promise<void>;
}

/** Folder of the newest installed PostgreSQL of at least 15, or undefined. */
export function findPostgres(): string | undefined {
  return globSync('/usr/lib/postgresql/*/bin/initdb')
    .map((path) => ({ folder: join(path, '..'), version: Number(path.split('/')[4]) }))
    .filter(({ version }) => version >= 15)
    .sort((a, b) => b.version - a.version)[0]?.folder;
}

/** Path of an installed program, or undefined. */
export function findProgram(names: string[]): string | undefined {
  const folders = (process.env.PATH ?? '').split(delimiter);
  return names
    .flatMap((name) => folders.map((folder) => join(folder, name)))
    .find((path) => existsSync(path));
}

/** Starts a PostgreSQL of its own; `settings` are further `-c` options. */
export async function startPostgres(
  bin: string,
  settings: string[] = ['fsync=off'],
): Promise<PrivateService> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-postgres-'));
  // PostgreSQL refuses to run as root; Debian's package brings a user for it.
  const user = process.getuid?.() === 0 ? { uid: idOf('-u'), gid: idOf('-g') } : {};
  if (user.uid !== undefined && user.gid !== undefined) chownSync(folder, user.uid, user.gid);
  const data = join(folder, 'data');
  execFileSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', 'svc', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'],
    {
      ...user,
      stdio: 'ignore',
    },
  );
  const port = await freePort();
  const url = `postgres://svc@127.0.0.1:${port}/postgres`;
  const options = [
    'listen_addresses=127.0.0.1',
    `port=${port}`,
    `unix_socket_directories=${folder}`,
    'max_connections=200',
    ...settings,
  ];
  return supervise({
    url,
    folder,
    launch: () =>
      spawn(join(bin, 'postgres'), ['-D', data, ...options.flatMap((option) => ['-c', option])], {
        ...user,
        stdio: 'ignore',
      }),
    // SIGQUIT is the immediate shutdown: no checkpoint, recovery at the next start.
    killSignal: 'SIGQUIT',
    answers: async () => {
      const client = new pg.Client({ connectionString: url });
      await client.connect();
      await client.end();
    },
  });
}

/** Starts a Redis of its own that keeps nothing on disk; `options` are further ones of its command line. */
export async function startRedis(program: string, options: string[] = []): Promise<PrivateService> {
  const folder = mkdtempSync(join(tmpdir(), 'svc-redis-'));
  const port = await freePort();
  return supervise({
    url: `redis://127.0.0.1:${port}`,
    folder,
    launch: () =>
      spawn(
        program,
        ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--dir', folder, ...options],
        {
          stdio: 'ignore',
        },
      ),
    killSignal: 'SIGKILL',
    answers: async () => {
      const { Redis } = await import('ioredis');
      const client = new Redis(port, '127.0.0.1', { lazyConnect: true, retryStrategy: () => null });
      client.on('error', () => {});
      await client
        .connect()
        .then(() => client.ping())
        .finally(() => client.disconnect());
    },
  });
}

// Below the range from which systems give out ports by themselves: a connection made between the choice of a port
// and its use cannot take it. Each of vitest's processes has a stretch of its own.
const FIRST_PORT = 20_000;
const PORTS_A_PROCESS = 500;
const firstOfMine = FIRST_PORT + (Number(process.env.VITEST_POOL_ID ?? 0) % 10) * PORTS_A_PROCESS;
let nextOfMine = process.pid % PORTS_A_PROCESS;

/** A port that nobody listens on, and that this process gave nobody lately. */
export async function freePort(): Promise<number> {
  for (let attempt = 0; attempt < PORTS_A_PROCESS; attempt++) {
    const port = firstOfMine + (nextOfMine++ % PORTS_A_PROCESS);
    if (await canListenOn(port)) return port;
  }
  throw new Error(`all ports from ${firstOfMine} on are taken`);
}

function canListenOn(port: number): Promise<boolean> {
  const server = createServer();
  return new Promise((resolve) => {
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

interface Supervised {
  url: string;
  folder: string;
  launch: () => ChildProcess;
  killSignal: NodeJS.Signals;
  answers: () => Promise<void>;
}

async function supervise({ url, folder, launch, killSignal, answers }: Supervised): Promise<PrivateService> {
  let child: ChildProcess | undefined;
  const start = async () => {
    child = launch();
    await untilItAnswers(answers, url);
  };
  const kill = async () => {
    const running = child;
    child = undefined;
    if (!running || running.exitCode !== null) return;
    const ended = new Promise((resolve) => running.once('exit', resolve));
    running.kill(killSignal);
    await ended;
  };
  // A test run that is interrupted must not leave servers behind.
  process.once('exit', () => child?.kill(killSignal));
  await start();
  return {
    url,
    start,
    kill,
    remove: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function untilItAnswers(answers: () => Promise<void>, url: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      return await answers();
    } catch (error) {
      if (attempt === 200) throw new Error(`${url} did not start`, { cause: error });
      await pause(50);
    }
  }
}

function idOf(flag: '-u' | '-g'): number {
  return Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
}
