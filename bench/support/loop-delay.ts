// Preloaded into a server under test (`node --import`): tells, when asked over IPC, how long its event loop was
// held since the last time it was asked, and by what garbage collection was part of it.
import { monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { isMainThread } from 'node:worker_threads';

export interface LoopDelay {
  /** Longest and 99th percentile of the time between two turns of the loop, less the timer's own interval. */
  maxMs: number;
  p99Ms: number;
  /** Longest pause of the garbage collector in the same time. */
  longestGcMs: number;
}

const RESOLUTION_MS = 1;

// Workers inherit the preload; it is the main thread's loop that serves requests.
if (isMainThread && process.send) {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let longestGcMs = 0;
  new PerformanceObserver((list) => {
    for (const entry of list.getEntries()) longestGcMs = Math.max(longestGcMs, entry.duration);
  }).observe({ entryTypes: ['gc'] });
  delay.enable();
  process.on('message', () => {
    const answer: LoopDelay = {
      maxMs: Math.max(0, delay.max / 1e6 - RESOLUTION_MS),
      p99Ms: Math.max(0, delay.percentile(99) / 1e6 - RESOLUTION_MS),
      longestGcMs,
    };
    delay.reset();
    longestGcMs = 0;
    process.send?.(answer);
  });
  // Listening must not keep a server alive that wants to stop.
  process.channel?.unref();
}
