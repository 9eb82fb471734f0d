// Publish/subscribe between the processes that share one embedded database, over a unix socket in the owner.
// As with Redis: a publisher hears its own messages if it subscribed, and who is not connected misses them.
export { connectLocalPublications } from './publications-client.ts';
export { serveLocalPublications } from './publications-hub.ts';
export { type Publications, PublicationsUnavailableError } from './publications-protocol.ts';
