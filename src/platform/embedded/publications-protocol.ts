// What all sides of the local publications agree on: the interface, and one JSON object a line between processes.

export interface Publications {
  /**
   * Resolves when the hub has taken the message and handed it to all who are subscribed.
   *
   * @throws PublicationsUnavailableError where no hub answered in time; the message may have been delivered or not
   * @throws RangeError where the message is longer than a line may be
   */
  publish(channel: string, message: string): Promise<void>;
  /** Resolves, once the hub knows the subscription, with the function that ends it. */
  subscribe(channel: string, handler: (message: string) => void): Promise<() => Promise<void>>;
  close(): Promise<void>;
}

/** There is no hub to talk to. */
export class PublicationsUnavailableError extends Error {
  readonly code = 'PUBLICATIONS_UNAVAILABLE';

  constructor(reason: string) {
    super(`The process that owns the embedded database does not take publications: ${reason}.`);
    this.name = 'PublicationsUnavailableError';
  }
}

/** From a client; each is answered with an acknowledgement of its id. */
export interface PublicationRequest {
  id: number;
  action: 'publish' | 'subscribe' | 'unsubscribe';
  channel: string;
  /** With `publish` only. */
  message?: string;
}

/** From the hub: an acknowledgement, or a message on a channel. */
export type PublicationEvent = { acknowledged: number } | { channel: string; message: string };

function fieldsOf(value: unknown): Record<string, unknown> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}

/** The request in a parsed line, or undefined where it is none. */
export function asPublicationRequest(value: unknown): PublicationRequest | undefined {
  const { id, action, channel, message } = fieldsOf(value);
  if (typeof id !== 'number' || typeof channel !== 'string') return undefined;
  if (action === 'publish') return typeof message === 'string' ? { id, action, channel, message } : undefined;
  return action === 'subscribe' || action === 'unsubscribe' ? { id, action, channel } : undefined;
}

/** The event in a parsed line, or undefined where it is none. */
export function asPublicationEvent(value: unknown): PublicationEvent | undefined {
  const { acknowledged, channel, message } = fieldsOf(value);
  if (typeof acknowledged === 'number') return { acknowledged };
  return typeof channel === 'string' && typeof message === 'string' ? { channel, message } : undefined;
}
