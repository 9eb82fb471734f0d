// What a process has used, from /proc (Linux).

import type { ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';

const TICKS_PER_SECOND = 100;

/** Processor time of a process so far, in seconds. */
export function cpuSeconds({ pid }: ChildProcess): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
  return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
}

/** Arguments for Node that let `settledBytes` ask for a collection. */
export const COLLECTING = [
  '--expose-gc',
  '--import',
  'data:text/javascript,process.on("SIGUSR2", () => gc())',
];

/** Resident memory of a process once its garbage is collected, in bytes: what it holds, not what it has used. */
export async function settledBytes(child: ChildProcess): Promise<number> {
  for (let round = 0; round < 2; round++) {
    child.kill('SIGUSR2');
    await pause(1_500);
  }
  return residentBytes(child);
}

/** Resident memory of a process, in bytes. */
export function residentBytes({ pid }: ChildProcess): number {
  const match = readFileSync(`/proc/${pid}/status`, 'utf8').match(/^VmRSS:\s+(\d+) kB/m);
  return Number(match?.[1]) * 1024;
}
