// A real `svc serve` as a child process, on free ports.
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { freePort } from './private-services.ts';
import { spawnSvc } from './run-svc.ts';
import { TEST_SECRET } from './test-platform.ts';

export interface ServedSvc {
  /** Of the paste service. */
  url: string;
  linksUrl: string;
  kanbanUrl: string;
  /** The relay on its own port. */
  relayUrl: string;
  opsUrl: string;
  opsPort: number;
  child: ChildProcess;
  /** What it has written to stderr so far: its log. */
  log(): string;
  /** Sends a signal and waits for the end. Returns the exit status, null when the signal ended it. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

export interface ServeSettings {
  env: Record<string, string>;
  args?: string[];
  daemon?: 'api' | 'relay' | 'scheduler';
}

/** Starts `svc serve`, or one of its daemons, and waits until it is ready. */
export async function serveSvc({ env, args = [], daemon }: ServeSettings): Promise<ServedSvc> {
  const [port, linksPort, kanbanPort, relayPort, opsPort] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const child = spawnSvc(['serve', ...(daemon ? [daemon] : []), ...args], {
    env: {
      SVC_SECRET: TEST_SECRET,
      PASTE_PORT: String(port),
      PASTE_URL: `http://127.0.0.1:${port}`,
      LINKS_PORT: String(linksPort),
      LINKS_URL: `http://127.0.0.1:${linksPort}`,
      KANBAN_PORT: String(kanbanPort),
      KANBAN_URL: `http://127.0.0.1:${kanbanPort}`,
      RELAY_PORT: String(relayPort),
      OPS_PORT: String(opsPort),
      RATE_LIMIT_CREATE_PER_HOUR: '0',
      ...env,
    },
  });
  let log = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  child.stdout?.resume();
  const opsUrl = `http://127.0.0.1:${opsPort}`;
  await until(async () => {
    if (child.exitCode !== null) throw new Error(`svc serve ended with ${child.exitCode}: ${log}`);
    return (await fetch(`${opsUrl}/readyz`)).ok;
  });
  return {
    url: `http://127.0.0.1:${port}`,
    linksUrl: `http://127.0.0.1:${linksPort}`,
    kanbanUrl: `http://127.0.0.1:${kanbanPort}`,
    relayUrl: `http://127.0.0.1:${relayPort}`,
    opsUrl,
    opsPort,
    child,
    log: () => log,
    end: async (signal) => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode;
      const ended = once(child, 'exit');
      child.kill(signal);
      const [code] = await ended;
      return code;
    },
  };
}

/** Waits until a condition holds; a condition that throws does not hold yet. Fails after the time given. */
export async function until(condition: () => Promise<boolean> | boolean, withinMs = 20_000): Promise<void> {
  const deadline = performance.now() + withinMs;
  let lastError: unknown;
  while (performance.now() < deadline) {
    try {
      if (await condition()) return;
    } catch (error) {
      lastError = error;
      if (error instanceof Error && error.message.startsWith('svc serve ended')) throw error;
    }
    await pause(20);
  }
  throw new Error('the condition did not come to hold in time', { cause: lastError });
}
