// Tells systemd how the daemon stands (sd_notify). Node cannot write to datagram sockets, systemd's own tool can.
import { execFile } from 'node:child_process';
import type { Log } from '../../platform/log.ts';

/** Sends states such as `READY=1`; does nothing where systemd did not start us (no NOTIFY_SOCKET). */
export function notifySystemd(env: Record<string, string | undefined>, states: string[], log: Log): void {
  if (env.NOTIFY_SOCKET === undefined) return;
  execFile('systemd-notify', [`--pid=${process.pid}`, ...states], (error) => {
    if (error) log.warn({ error: error.message }, 'systemd could not be told');
  });
}

/**
 * Tells systemd at half of `WATCHDOG_USEC` that the event loop still turns; one that hangs is then restarted
 * (systemd.service, WatchdogSec). Does nothing where none was asked for.
 *
 * @returns what ends it
 */
export function feedWatchdog(env: Record<string, string | undefined>, log: Log): () => void {
  const microseconds = Number(env.WATCHDOG_USEC);
  if (!(microseconds > 0)) return () => {};
  const timer = setInterval(() => notifySystemd(env, ['WATCHDOG=1'], log), microseconds / 2_000).unref();
  return () => clearInterval(timer);
}
