// Preloaded into a server under test (`node --import`): tells, when asked over IPC, for how long at a time its event
// loop was held since it was last asked, with and without the pauses of the garbage collector.
import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

export interface LoopDelay {
  /** Longest time between two turns of the loop, beyond the millisecond the timer asks for. */
  maxMs: number;
  /** The same, less the garbage collector's pauses within it: what our own steps held it for. */
  oursMs: number;
}

const INTERVAL_MS = 1;

interface Gap {
  from: number;
  to: number;
}

// Workers inherit the preload; it is the main thread's loop that serves requests.
if (isMainThread && process.send) {
  let gaps: Gap[] = [];
  let pauses: PerformanceEntry[] = [];
  let last = performance.now();
  const tick = () => {
    const now = performance.now();
    if (now - last > 3 * INTERVAL_MS) gaps.push({ from: last, to: now });
    last = now;
    setTimeout(tick, INTERVAL_MS).unref();
  };
  tick();
  const observer = new PerformanceObserver((list) => pauses.push(...list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });

  // The collector's pauses are told some turns of the loop later.
  process.on('message', () => setTimeout(answerHeld, 20));
  const answerHeld = () => {
    pauses.push(...observer.takeRecords());
    const held = gaps.map((gap) => ({
      all: gap.to - gap.from - INTERVAL_MS,
      collected: collectedIn(gap, pauses),
    }));
    const answer: LoopDelay = {
      maxMs: Math.max(0, ...held.map(({ all }) => all)),
      oursMs: Math.max(0, ...held.map(({ all, collected }) => all - collected)),
    };
    [gaps, pauses] = [[], []];
    process.send?.(answer);
  };
  // Listening must not keep a server alive that wants to stop.
  process.channel?.unref();
}

function collectedIn({ from, to }: Gap, pauses: PerformanceEntry[]): number {
  return pauses.reduce((sum, { startTime, duration }) => {
    return sum + Math.max(0, Math.min(to, startTime + duration) - Math.max(from, startTime));
  }, 0);
}
