// Every process keeps destinations in memory: those of links that are gone leave all of them before anybody is told
// that the link is gone.
import { messageOf } from '../../platform/errors.ts';
import type { Platform } from '../../platform/platform.ts';

export const GONE_CHANNEL = 'link-gone';

/** Tells every process that these links are gone; resolves once all have heard it. */
export async function announceGone(
  { ephemeral, log }: Pick<Platform, 'ephemeral' | 'log'>,
  shortCodes: readonly string[],
): Promise<void> {
  // A process that cannot be told has lost its connection, and trusts nothing in its memory until it is back.
  await ephemeral
    .announce(GONE_CHANNEL, shortCodes.join(' '))
    .catch((error: unknown) => log.debug({ error: messageOf(error) }, 'announcing a removal failed'));
}
