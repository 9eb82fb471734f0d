// Runs the real command as a child process, as a shell would.
import { type ChildProcess, spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';

export const SVC = fileURLToPath(new URL('../../bin/svc.js', import.meta.url));

export interface RunOptions {
  /** Given on stdin, which is a pipe; without it stdin is empty. */
  input?: string | Uint8Array;
  env?: Record<string, string>;
  cwd?: string;
}

export interface RunResult {
  stdout: string;
  stderr: string;
  /** Exit status; null when a signal ended it. */
  code: number | null;
}

/** Starts the command with no more of our environment than it needs. */
export function spawnSvc(args: string[], { env = {}, cwd }: Omit<RunOptions, 'input'> = {}): ChildProcess {
  const { PATH = '', HOME = '' } = process.env;
  // Its life is short: compiling the embedded database well would take longer than it saves.
  return spawn(process.execPath, ['--liftoff-only', SVC, ...args], {
    env: { PATH, HOME, NO_COLOR: '1', ...env },
    stdio: 'pipe',
    ...(cwd !== undefined && { cwd }),
  });
}

/** Runs the command to its end. */
export async function runSvc(
  args: string[],
  { input = '', ...options }: RunOptions = {},
): Promise<RunResult> {
  const child = spawnSvc(args, options);
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout?.on('data', (chunk: Buffer) => stdout.push(chunk));
  child.stderr?.on('data', (chunk: Buffer) => stderr.push(chunk));
  // A command that does not read its input may end before it is written.
  child.stdin?.on('error', () => {});
  child.stdin?.end(input);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', resolve);
  });
  return { stdout: Buffer.concat(stdout).toString(), stderr: Buffer.concat(stderr).toString(), code };
}
