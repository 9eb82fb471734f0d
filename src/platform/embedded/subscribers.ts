// Which handlers of this process listen to which channel.

export type PublicationHandler = (message: string) => void;

export class Subscribers {
  readonly #handlers = new Map<string, Set<PublicationHandler>>();

  get channels(): string[] {
    return [...this.#handlers.keys()];
  }

  /** @returns whether it is the first handler of its channel */
  add(channel: string, handler: PublicationHandler): boolean {
    const handlers = this.#handlers.get(channel);
    if (handlers) {
      handlers.add(handler);
      return false;
    }
    this.#handlers.set(channel, new Set([handler]));
    return true;
  }

  /** @returns whether the channel has no handler left, having had this one */
  remove(channel: string, handler: PublicationHandler): boolean {
    const handlers = this.#handlers.get(channel);
    if (!handlers?.delete(handler) || handlers.size > 0) return false;
    return this.#handlers.delete(channel);
  }

  /** Hands a message to every handler; one that throws does not keep it from the others. */
  deliver(channel: string, message: string): void {
    for (const handler of [...(this.#handlers.get(channel) ?? [])]) {
      try {
        handler(message);
      } catch (error) {
        process.emitWarning(error instanceof Error ? error : String(error));
      }
    }
  }

  clear(): void {
    this.#handlers.clear();
  }
}
