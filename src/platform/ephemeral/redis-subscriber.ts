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

/** What ioredis has no public name for. */
interface ClusterInternals {
  subscriber?: { getInstance(): Redis | null };
}

export class RedisSubscriber {
  readonly #connection: Redis | Cluster;
  readonly #log: Log;
  /** Channel that only this one listens to. Subscribing to it again is the probe: a cluster has no ping for this. */
  readonly #own: string;
  readonly #listeners = new Map<string, number>();
  readonly #resumedHandlers = new Set<() => void>();
  /** Connection to a node of a cluster. */
  #watched: Redis | undefined;
  #opened: Promise<void> | undefined;
  #prober: NodeJS.Timeout | undefined;
  #isSubscribed = false;
  #silentProbes = 0;
  #interruptions = 0;
  #isInterrupted = false;

  constructor(connection: Redis | Cluster, { own, hear, log }: { own: string; hear: Hear; log: Log }) {
    this.#connection = connection;
    this.#own = own;
    this.#log = log;
    connection.on('message', hear);
    connection.on('close', () => this.#lost());
    connection.on('ready', () => this.#subscribeAll());
  }

  /** Whether messages arrive now; false while some may be missed. */
  get delivering(): boolean {
    return this.#isSubscribed && this.#silentProbes === 0;
  }

  /** How often messages may have been missed so far. */
  get interruptions(): number {
    return this.#interruptions;
  }

  /** Calls the handler each time that messages arrive again; the answer ends that. */
  onResumed(handler: () => void): () => void {
    const own = () => handler();
    this.#resumedHandlers.add(own);
    return () => this.#resumedHandlers.delete(own);
  }

  /** Connects, the first time it is called; sees each time that it fails whether the connection has come by itself. */
  open(): Promise<void> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
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
    if (this.#connection.status === 'wait') await this.#connection.connect();
    this.#prober ??= setInterval(() => this.#probe(), PROBE_EVERY_MS).unref();
    await within(ANSWER_WITHIN_MS, this.#confirm());
  }

  #lost(): void {
    // Attempts to connect end in a close as well: they interrupt nothing.
    if (this.#isSubscribed) this.#interrupt();
    this.#isSubscribed = false;
  }

  /** A cluster subscribes over a connection to one of its nodes, and replaces it without a word when that ends. */
  #watchCluster(): void {
    const { subscriber } = this.#connection as unknown as ClusterInternals;
    const current = subscriber?.getInstance();
    if (!current || current === this.#watched) return;
    this.#watched = current;
    current.once('end', () => {
      this.#lost();
      if (this.#connection.status === 'ready') this.#subscribeAll();
    });
  }

  #subscribeAll(): void {
    this.#confirm().catch((error: unknown) =>
      this.#log.debug({ error: messageOf(error) }, 'subscribing failed; it is tried again'),
    );
  }

  /** A connection that is back counts as delivering once Redis has confirmed every subscription. */
  async #confirm(): Promise<void> {
    this.#watchCluster();
    const isProbe = this.#isSubscribed;
    // What was published before the answer has come before it, however late the answer is.
    await this.#connection.subscribe(this.#own, ...(isProbe ? [] : this.#listeners.keys()));
    // A cluster asks again over its next connection, for as little as it was asked for.
    if (isProbe && !this.#isSubscribed) return;
    if (this.#silentProbes > 0) this.#log.info('Redis delivers publications again');
    this.#isSubscribed = true;
    this.#silentProbes = 0;
    if (!this.#isInterrupted) return;
    this.#isInterrupted = false;
    for (const handler of [...this.#resumedHandlers]) handler();
  }

  #interrupt(): void {
    this.#interruptions++;
    this.#isInterrupted = true;
  }

  async #probe(): Promise<void> {
    try {
      await within(ANSWER_WITHIN_MS, this.#confirm());
    } catch (error) {
      this.#silentProbes++;
      this.#interrupt();
      if (this.#silentProbes === 1)
        this.#log.warn({ error: messageOf(error) }, 'Redis delivers no publications at present');
      if (this.#silentProbes % MOST_SILENT_PROBES === 0 && this.#connection.status === 'ready')
        this.#connection.disconnect(true);
    }
  }
}
