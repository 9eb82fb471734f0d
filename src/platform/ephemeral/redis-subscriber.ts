// The connection that publications come over, and whether they do: it is asked every two seconds, since one that went
// silent looks like one over which nothing is said.
import type { Cluster, Redis } from 'ioredis';
import { messageOf } from '../errors.ts';
import type { Log } from '../log.ts';
import { within } from './within.ts';

const PROBE_EVERY_MS = 2_000;
const ANSWER_WITHIN_MS = 1_000;
/** After so many probes without an answer the connection is made anew: nobody may be at its other end. */
const MOST_SILENT_PROBES = 3;

/** By then everybody whose connection went silent has noticed, with some time for a busy machine. */
export const SILENCE_NOTICED_MS = PROBE_EVERY_MS + ANSWER_WITHIN_MS + 500;

/** What a subscriber hears: the channel, and the text that was published. */
export type Hear = (channel: string, text: string) => void;

export class RedisSubscriber {
  readonly #connection: Redis | Cluster;
  readonly #log: Log;
  /** Channel that only this one listens to. Subscribing to it again is the probe: a cluster has no ping for this. */
  readonly #own: string;
  readonly #listeners = new Map<string, number>();
  #opened: Promise<void> | undefined;
  #prober: NodeJS.Timeout | undefined;
  #isSubscribed = false;
  #silentProbes = 0;

  constructor(connection: Redis | Cluster, { own, hear, log }: { own: string; hear: Hear; log: Log }) {
    this.#connection = connection;
    this.#own = own;
    this.#log = log;
    connection.on('message', hear);
    connection.on('close', () => {
      this.#isSubscribed = false;
    });
    connection.on('ready', () => this.#subscribeAgain());
  }

  /** Whether messages arrive now; false while some may be missed. */
  get delivering(): boolean {
    return this.#isSubscribed && this.#silentProbes === 0;
  }

  /** Connects, the first time it is called. */
  open(): Promise<void> {
    this.#opened ??= this.#open();
    return this.#opened;
  }

  /** Listens to a channel from now on; the answer ends that. */
  async listen(channel: string): Promise<() => Promise<void>> {
    await this.open();
    this.#listeners.set(channel, (this.#listeners.get(channel) ?? 0) + 1);
    try {
      await within(ANSWER_WITHIN_MS, this.#connection.subscribe(channel));
    } catch (error) {
      this.#leave(channel);
      throw error;
    }
    return async () => {
      if (this.#leave(channel)) await within(ANSWER_WITHIN_MS, this.#connection.unsubscribe(channel));
    };
  }

  close(): void {
    clearInterval(this.#prober);
    this.#connection.disconnect();
  }

  /** Answers whether nobody listens to the channel any more. */
  #leave(channel: string): boolean {
    const others = (this.#listeners.get(channel) ?? 1) - 1;
    if (others > 0) this.#listeners.set(channel, others);
    else this.#listeners.delete(channel);
    return others <= 0;
  }

  async #open(): Promise<void> {
    await this.#connection.connect();
    this.#prober = setInterval(() => this.#probe(), PROBE_EVERY_MS).unref();
    await within(ANSWER_WITHIN_MS, this.#connection.subscribe(this.#own));
    this.#isSubscribed = true;
  }

  /** A connection that is back counts as delivering once Redis has confirmed every subscription. */
  #subscribeAgain(): void {
    this.#connection.subscribe(this.#own, ...this.#listeners.keys()).then(
      () => {
        this.#isSubscribed = true;
        this.#silentProbes = 0;
      },
      (error: unknown) => this.#log.debug({ error: messageOf(error) }, 'subscribing again failed'),
    );
  }

  async #probe(): Promise<void> {
    // What was published before the answer has come before it, however late the answer is.
    const answer = this.#connection.subscribe(this.#own).then(() => {
      if (this.#silentProbes > 0) this.#log.info('Redis delivers publications again');
      this.#silentProbes = 0;
    });
    try {
      await within(ANSWER_WITHIN_MS, answer);
    } catch (error) {
      this.#silentProbes++;
      if (this.#silentProbes === 1)
        this.#log.warn({ error: messageOf(error) }, 'Redis delivers no publications at present');
      if (this.#silentProbes % MOST_SILENT_PROBES === 0 && this.#connection.status === 'ready')
        this.#connection.disconnect(true);
    }
  }
}
