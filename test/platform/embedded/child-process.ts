// Starts `owner-child.ts` and reads what it says.
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

type Said = Record<string, unknown>;

export interface ChildOwner {
  process: ChildProcess;
  /** Everything it has said so far. */
  said: Said[];
  /** Everything it wrote to standard error. */
  errors(): string;
  /** The first (or that many-th) thing it says that has one of the keys; fails when it ends without. */
  until(keys: string | string[], count?: number): Promise<Said>;
  /** Asks it to close, and waits for its end. */
  stop(): Promise<void>;
  /** SIGKILL, and waits for its end. */
  kill(): Promise<void>;
}

/** Runs the child with its arguments: data directory, mode, and what to do. */
export function aChildOwner(
  dataDir: string,
  mode: 'own' | 'share',
  work = '',
  identity: { uid?: number; gid?: number } = {},
): ChildOwner {
  const script = fileURLToPath(new URL('./owner-child.ts', import.meta.url));
  const child = spawn(process.execPath, [script, dataDir, mode, work], { stdio: 'pipe', ...identity });
  const said: Said[] = [];
  let errors = '';
  let ended = false;
  let wake = () => {};
  child.stderr.on('data', (chunk) => {
    errors += chunk;
  });
  createInterface({ input: child.stdout }).on('line', (line) => {
    said.push(JSON.parse(line));
    wake();
  });
  const end = new Promise<void>((resolve) => {
    child.once('close', () => {
      ended = true;
      wake();
      resolve();
    });
  });
  return {
    process: child,
    said,
    errors: () => errors,
    async until(keys, count = 1) {
      const wanted = [keys].flat();
      for (;;) {
        const matches = said.filter((value) => wanted.some((key) => key in value));
        const match = matches[count - 1];
        if (match) return match;
        if (ended) throw new Error(`the child ended without ${wanted}: ${JSON.stringify(said)} ${errors}`);
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    async stop() {
      child.stdin.end();
      await end;
    },
    async kill() {
      child.kill('SIGKILL');
      await end;
    },
  };
}
