// Whose turn it is: first come, first served, one unit each, and the backend stays with whoever is in a transaction.

/** Somebody who has units to run: a client's session, or the front's own upkeep. */
export interface Participant {
  /** It has something that can run now. */
  readonly hasWork: boolean;
  /** Runs one unit. `held`: the backend must stay with this participant. */
  runUnit(): Promise<'held' | 'free'>;
  /** It holds the backend and has nothing to run. Called each time it falls silent. */
  onSilent?(): void;
}

/** How long units run one after the other before sockets and timers get a chance. */
const TURN_BUDGET_MS = 5;

/** The queue before the one backend. */
export class Turns {
  readonly #onDeath: (error: Error) => void;
  readonly #queue = new Set<Participant>();
  #holder: Participant | undefined;
  #running = false;
  #dead = false;

  /** @param onDeath called once, when a participant's unit threw: the backend is not to be used again */
  constructor(onDeath: (error: Error) => void) {
    this.#onDeath = onDeath;
  }

  /** Nobody holds the backend or waits for it. */
  get idle(): boolean {
    return !this.#running && this.#holder === undefined && this.#queue.size === 0;
  }

  holds(participant: Participant): boolean {
    return this.#holder === participant;
  }

  /** Says that a participant has work; more than once does no harm. */
  wake(participant: Participant): void {
    if (this.#dead || !participant.hasWork) return;
    if (this.#holder !== participant) this.#queue.add(participant);
    if (!this.#running) void this.#run();
  }

  async #run(): Promise<void> {
    this.#running = true;
    try {
      let yieldAt = performance.now() + TURN_BUDGET_MS;
      for (let next = this.#next(); next; next = this.#next()) {
        await this.#runOne(next);
        if (performance.now() < yieldAt) continue;
        await new Promise((resolve) => setImmediate(resolve));
        yieldAt = performance.now() + TURN_BUDGET_MS;
      }
    } catch (error) {
      this.#dead = true;
      this.#onDeath(error instanceof Error ? error : new Error(String(error)));
    } finally {
      this.#running = false;
    }
  }

  #next(): Participant | undefined {
    if (this.#holder) return this.#holder.hasWork ? this.#holder : undefined;
    const [first] = this.#queue;
    if (first) this.#queue.delete(first);
    return first;
  }

  async #runOne(participant: Participant): Promise<void> {
    this.#holder = participant;
    const outcome = await participant.runUnit();
    if (outcome === 'held') {
      if (!participant.hasWork) participant.onSilent?.();
      return;
    }
    this.#holder = undefined;
    // To the end of the queue, so that a client with many units takes turns with the others.
    if (participant.hasWork) this.#queue.add(participant);
  }
}
