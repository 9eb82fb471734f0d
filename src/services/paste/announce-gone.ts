// Processes tell each other which pastes are gone, so that their content leaves every memory at once.
// No answer depends on it: each read asks the database.
import type { Platform } from '../../platform/platform.ts';

export const GONE_CHANNEL = 'paste-gone';

/** Tells every process that these pastes are gone. */
export async function announceGone(
  { ephemeral, log }: Pick<Platform, 'ephemeral' | 'log'>,
  pastes: ReadonlyArray<{ pasteId: string; pasteKey: number }>,
): Promise<void> {
  await ephemeral
    .publish(GONE_CHANNEL, pastes.map(({ pasteId, pasteKey }) => `${pasteId}:${pasteKey}`).join(' '))
    .catch((error: unknown) => log.debug({ error }, 'publishing a removal failed'));
}
