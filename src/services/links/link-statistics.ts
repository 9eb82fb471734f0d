// The statistics of one link, from counts: reading them costs the same however often it was clicked.
import { sql } from 'kysely';
import type { NameCounts } from '../../platform/database/tables.ts';
import { dayOf } from './clicks/tally.ts';
import { LinkError } from './errors.ts';
import type { LinkService } from './link-service.ts';
import { type NameCount, topNames } from './top-names.ts';

export interface LinkStatistics {
  shortCode: string;
  totalClicks: number;
  createdAt: Date;
  expiresAt: Date | null;
  /** One entry a day, oldest first, today (UTC) last, zeros among them. */
  timeline: Array<{ date: string; clicks: number }>;
  browsers: NameCount[];
  operatingSystems: NameCount[];
  devices: NameCount[];
  topReferrers: Array<{ host: string; count: number }>;
}

const DAY_MS = 86_400_000;

/**
 * Reads the statistics of a link, the latest clicks of this process among them.
 *
 * @param days - length of the timeline
 * @throws {LinkError} LINK_NOT_FOUND
 */
export async function linkStatistics(
  { platform, clicks }: LinkService,
  shortCode: string,
  days: number,
): Promise<LinkStatistics> {
  await clicks.catchUp();
  const now = platform.clock.now();
  const dates = Array.from({ length: days }, (_, index) => dayOf(now - (days - 1 - index) * DAY_MS));
  const { rows } = await sql<{
    createdAt: Date;
    expiresAt: Date | null;
    clicks: number | null;
    names: NameCounts | null;
    timeline: Record<string, number> | null;
  }>`
    SELECT link.created_at, link.expires_at, click_summary.clicks, click_summary.names,
      (SELECT jsonb_object_agg(click_day.day, click_day.clicks) FROM click_day
       WHERE click_day.link_key = link.link_key
         AND click_day.day BETWEEN ${dates[0]}::date AND ${dates.at(-1)}::date) AS timeline
    FROM link LEFT JOIN click_summary USING (link_key)
    WHERE link.short_code = ${shortCode}`.execute(platform.database);
  const [row] = rows;
  if (!row) throw new LinkError('LINK_NOT_FOUND');
  const { browser, operatingSystem, device, referrerHost } = row.names ?? {};
  return {
    shortCode,
    totalClicks: row.clicks ?? 0,
    createdAt: row.createdAt,
    expiresAt: row.expiresAt,
    timeline: dates.map((date) => ({ date, clicks: row.timeline?.[date] ?? 0 })),
    browsers: topNames(browser),
    operatingSystems: topNames(operatingSystem),
    devices: topNames(device),
    topReferrers: topNames(referrerHost).map(({ name, count }) => ({ host: name, count })),
  };
}
