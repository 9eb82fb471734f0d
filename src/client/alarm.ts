// Something to be done later, once, however often it is asked for.

export interface Alarm {
  isSet(): boolean;
  /** Does it after a while, unless it is to be done already. */
  set(ms: number): void;
  /** Does it after a while, whatever was said before. */
  restart(ms: number): void;
  stop(): void;
}

/** Makes an alarm. Without a wait it acts at once: in a tab that is hidden a timer takes up to a second. */
export function createAlarm(action: () => void): Alarm {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  const restart = (ms: number) => {
    stop();
    if (ms <= 0) {
      action();
      return;
    }
    timer = setTimeout(() => {
      timer = undefined;
      action();
    }, ms);
  };
  return {
    isSet: () => timer !== undefined,
    set: (ms) => {
      if (timer === undefined) restart(ms);
    },
    restart,
    stop,
  };
}
