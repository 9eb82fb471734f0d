// The two rate limits of the link service, as routes use them.
import type { Platform } from '../../platform/platform.ts';
import type { RouteLimit } from '../http/route.ts';

/** Creations per address: only a created link uses a slot. */
export function creationLimit({ config }: Platform): RouteLimit<Record<string, unknown>> {
  return {
    rule: { name: 'link-create', limit: config.links.createPerHour, windowMs: 3_600_000 },
    counts: (status) => status === 201,
  };
}

/** Wrong passwords per address, whatever the link; API and page share the one window (contract, section 4). */
export function unlockLimit({ config }: Platform): RouteLimit<Record<string, unknown>> {
  return {
    rule: { name: 'link-unlock', limit: config.links.unlockFailures, windowMs: 5 * 60_000 },
    counts: (status) => status === 401,
  };
}
