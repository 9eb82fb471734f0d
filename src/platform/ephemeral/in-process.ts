// The ephemeral store of a process that has no Redis: exact, and gone with the process.
import type { Clock } from '../clock.ts';
import type { EphemeralStore, WindowAnswer, WindowRequest } from './store.ts';

/** Publications that reach other processes on this machine (the embedded database's owner serves them). */
export type PublicationBus = Pick<EphemeralStore, 'publish' | 'subscribe'> & { close(): Promise<void> };

const SWEEP_INTERVAL_MS = 60_000;

interface Window {
  members: Map<string, number>;
  windowMs: number;
}

export class InProcessStore implements EphemeralStore {
  readonly kind = 'in-process';
  readonly delivering = true;
  readonly interruptions = 0;
  readonly #clock: Clock;
  readonly #bus: PublicationBus;
  readonly #windows = new Map<string, Window>();
  readonly #values = new Map<string, { value: string; expiresAt: number }>();
  readonly #sweeper: NodeJS.Timeout;

  constructor(clock: Clock, bus: PublicationBus = createLocalBus()) {
    this.#clock = clock;
    this.#bus = bus;
    this.#sweeper = setInterval(() => this.sweep(), SWEEP_INTERVAL_MS).unref();
  }

  async reserve({ key, limit, windowMs, now, member }: WindowRequest): Promise<WindowAnswer> {
    const window = this.#windows.get(key) ?? { members: new Map<string, number>(), windowMs };
    window.windowMs = windowMs;
    dropOld(window, now);
    const granted = window.members.size < limit;
    if (granted) {
      window.members.set(member, now);
      this.#windows.set(key, window);
    }
    const oldest = window.members.size === 0 ? now : Math.min(...window.members.values());
    return { granted, used: window.members.size, oldest };
  }

  async release(key: string, member: string): Promise<void> {
    const window = this.#windows.get(key);
    window?.members.delete(member);
    if (window?.members.size === 0) this.#windows.delete(key);
  }

  async put(key: string, value: string, ttlMs: number): Promise<void> {
    this.#values.set(key, { value, expiresAt: this.#clock.now() + ttlMs });
  }

  async get(key: string): Promise<string | undefined> {
    return this.#live(key);
  }

  async take(key: string): Promise<string | undefined> {
    // No await between the two, or all who race would get it.
    const value = this.#live(key);
    this.#values.delete(key);
    return value;
  }

  publish(channel: string, message: string): Promise<void> {
    return this.#bus.publish(channel, message);
  }

  /** Subscribers of this process are called before this resolves. */
  announce(channel: string, message: string): Promise<void> {
    return this.#bus.publish(channel, message);
  }

  subscribe(channel: string, handler: (message: string) => void): Promise<() => Promise<void>> {
    return this.#bus.subscribe(channel, handler);
  }

  /** Nothing is missed, so nothing is resumed. */
  onResumed(): () => void {
    return () => undefined;
  }

  journal(): undefined {
    return undefined;
  }

  async ping(): Promise<boolean> {
    return true;
  }

  async close(): Promise<void> {
    clearInterval(this.#sweeper);
    await this.#bus.close();
  }

  /** Forgets what has run out, so that memory follows the recent past and not all of it. */
  sweep(): void {
    const now = this.#clock.now();
    for (const [key, window] of this.#windows) {
      dropOld(window, now);
      if (window.members.size === 0) this.#windows.delete(key);
    }
    for (const [key, { expiresAt }] of this.#values) if (expiresAt <= now) this.#values.delete(key);
  }

  #live(key: string): string | undefined {
    const entry = this.#values.get(key);
    return entry && entry.expiresAt > this.#clock.now() ? entry.value : undefined;
  }

  /** Keys held in memory: windows and values. */
  get size(): number {
    return this.#windows.size + this.#values.size;
  }
}

function dropOld(window: Window, now: number): void {
  // Members were added in order of time, so the first young one ends the search.
  for (const [member, at] of window.members) {
    if (at > now - window.windowMs) break;
    window.members.delete(member);
  }
}

/** Publications that stay within this process. */
export function createLocalBus(): PublicationBus {
  const handlers = new Map<string, Set<(message: string) => void>>();
  return {
    publish: async (channel, message) => {
      for (const handler of [...(handlers.get(channel) ?? [])]) handler(message);
    },
    subscribe: async (channel, handler) => {
      const own = (message: string) => handler(message);
      const subscribers = handlers.get(channel) ?? new Set();
      handlers.set(channel, subscribers.add(own));
      return async () => {
        subscribers.delete(own);
        if (subscribers.size === 0) handlers.delete(channel);
      };
    },
    close: async () => handlers.clear(),
  };
}
