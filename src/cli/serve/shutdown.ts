// When and how hard a daemon stops: the first signal gracefully, the second or the timeout at once.

import { Failure, messageOf } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import type { Platform } from '../../platform/platform.ts';

export interface ShutdownReason {
  text: string;
  /** Exit status once everything has stopped. */
  exit: number;
  /** Set when it is a fault that stops the process. */
  failure?: Failure;
}

export interface Shutdown {
  /** Resolves when the process is to stop. */
  requested: Promise<ShutdownReason>;
  /** From now on the process ends at once after this time, or at a second signal. */
  enforce(timeoutMs: number): void;
  end(): void;
}

/** Watches for SIGINT, SIGTERM and the death of the embedded database; SIGHUP re-reads the log level. */
export function watchForShutdown(platform: Platform, readLogLevel: () => string): Shutdown {
  const { log, storage } = platform;
  const { promise: requested, resolve } = Promise.withResolvers<ShutdownReason>();
  let signals = 0;
  let timer: NodeJS.Timeout | undefined;

  const endAtOnce = (why: string) => {
    log.fatal({ why }, 'ending at once');
    // The work that could be saved has had its time; exit handlers would only wait for it again.
    process.exit(EXIT.failed);
  };
  const onSignal = (signal: NodeJS.Signals) => {
    signals++;
    if (signals > 1) endAtOnce('a second signal');
    resolve({ text: signal, exit: EXIT.done });
  };
  const onHangup = () => {
    try {
      log.level = readLogLevel();
      log.info({ level: log.level }, 'log level read again');
    } catch (error) {
      log.warn({ error: messageOf(error) }, 'the log level stays as it is: the settings cannot be read');
    }
  };
  process.on('SIGINT', onSignal).on('SIGTERM', onSignal).on('SIGHUP', onHangup);
  void storage.embedded?.failed.then((error) => {
    const failure =
      error instanceof Failure
        ? error
        : new Failure({
            code: 'DATABASE_WORKER_DIED',
            message: `the embedded database died: ${messageOf(error)}`,
            hint: 'start svc serve again; what was acknowledged is on disk',
            exit: EXIT.databaseUnreachable,
            cause: error,
          });
    resolve({ text: failure.message, exit: failure.exit, failure });
  });
  return {
    requested,
    enforce: (timeoutMs) => {
      timer = setTimeout(endAtOnce, timeoutMs, `stopping took longer than ${timeoutMs} ms`).unref();
    },
    end: () => {
      clearTimeout(timer);
      process.off('SIGINT', onSignal).off('SIGTERM', onSignal).off('SIGHUP', onHangup);
    },
  };
}
