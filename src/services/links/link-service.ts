// What the link functions stand on: the platform, and the state that this service keeps in a process.
import type { Batcher } from '../../platform/batcher.ts';
import { messageOf } from '../../platform/errors.ts';
import type { Platform } from '../../platform/platform.ts';
import { makeClickMonths } from './clicks/click-months.ts';
import { type ClickRecorder, createClickRecorder } from './clicks/click-recorder.ts';
import { type ClickRemover, createClickRemover } from './clicks/remove-clicks.ts';
import { type DestinationCache, openDestinationCache } from './destination-cache.ts';
import { createInserter, type NewLinkRow } from './insert-links.ts';
import { createQrCodes, type QrCodes } from './qr/qr-codes.ts';

export interface LinkService {
  platform: Platform;
  destinations: DestinationCache;
  clicks: ClickRecorder;
  clickRemover: ClickRemover;
  qrCodes: QrCodes;
  /** Answers whether the row was written: not, when another link has its code. */
  inserts: Batcher<NewLinkRow, boolean>;
  close(): Promise<void>;
}

/** Opens the link service of a process. */
export async function openLinkService(platform: Platform): Promise<LinkService> {
  const { database, clock, log } = platform;
  // Without its month a click goes to the partition for all others: worth a word, not a failed start.
  await makeClickMonths(database, clock.now()).catch((error: unknown) =>
    log.warn({ error: messageOf(error) }, 'the partitions of this month for clicks cannot be made'),
  );
  const destinations = await openDestinationCache(platform);
  const clicks = createClickRecorder(platform);
  const clickRemover = createClickRemover(platform);
  const inserts = createInserter(database);
  const qrCodes = createQrCodes();
  return {
    platform,
    destinations,
    clicks,
    clickRemover,
    qrCodes,
    inserts,
    close: async () => {
      await Promise.all([inserts.drain(), destinations.close(), qrCodes.close()]);
      await clicks.close();
      await clickRemover.close();
    },
  };
}
