// The statistics over all links, cached for 5 minutes for all processes together.
import { sql } from 'kysely';
import { messageOf } from '../../platform/errors.ts';
import { dayOf, IMPORTED } from './clicks/tally.ts';
import type { LinkService } from './link-service.ts';
import { type NameCount, topNames } from './top-names.ts';

export interface ServiceStatistics {
  /** Ever created, those that are gone among them; clicks likewise. */
  totalLinks: number;
  totalClicks: number;
  /** Since 00:00 UTC. */
  linksToday: number;
  /** Since Monday 00:00 UTC. */
  linksThisWeek: number;
  topBrowsers: NameCount[];
  topOperatingSystems: NameCount[];
  topDevices: NameCount[];
}

const CACHE_MS = 5 * 60_000;
const CACHE_KEY = 'link-statistics';
const DAY_MS = 86_400_000;

/** Reads the statistics; at most 5 minutes old (link-api.md, GET /stats). */
export async function serviceStatistics(service: LinkService): Promise<ServiceStatistics> {
  const { ephemeral, log } = service.platform;
  const whenAway = (error: unknown) => {
    // Without the cache the answer is only dearer.
    log.debug({ error: messageOf(error) }, 'the cache of the statistics is away');
    return undefined;
  };
  const cached = await ephemeral.get(CACHE_KEY).catch(whenAway);
  if (cached !== undefined) return JSON.parse(cached) as ServiceStatistics;
  const statistics = await readStatistics(service);
  await ephemeral.put(CACHE_KEY, JSON.stringify(statistics), CACHE_MS).catch(whenAway);
  return statistics;
}

async function readStatistics({ platform, clicks }: LinkService): Promise<ServiceStatistics> {
  await clicks.catchUp();
  const now = new Date(platform.clock.now());
  const today = dayOf(now.getTime());
  const monday = dayOf(now.getTime() - ((now.getUTCDay() + 6) % 7) * DAY_MS);
  const { rows } = await sql<{ kind: string; name: string; count: number }>`
    SELECT 'links' AS kind, 'total' AS name, coalesce(sum(count), 0)::bigint AS count FROM link_day_count
    UNION ALL
    SELECT 'links', 'today', coalesce(sum(count), 0)::bigint FROM link_day_count WHERE day = ${today}::date
    UNION ALL
    SELECT 'links', 'week', coalesce(sum(count), 0)::bigint FROM link_day_count
    WHERE day BETWEEN ${monday}::date AND ${today}::date
    UNION ALL
    SELECT dimension, name, clicks FROM click_name_count`.execute(platform.database);

  const countsOf = (kind: string) =>
    Object.fromEntries(rows.filter((row) => row.kind === kind).map(({ name, count }) => [name, count]));
  const links = countsOf('links');
  const devices = countsOf('device');
  return {
    totalLinks: links.total ?? 0,
    // Every click that was seen here has one kind of device.
    totalClicks: sumOf(devices) + sumOf(countsOf(IMPORTED)),
    linksToday: links.today ?? 0,
    linksThisWeek: links.week ?? 0,
    topBrowsers: topNames(countsOf('browser')),
    topOperatingSystems: topNames(countsOf('operatingSystem')),
    topDevices: topNames(devices),
  };
}

function sumOf(counts: Record<string, number>): number {
  return Object.values(counts).reduce((sum, count) => sum + count, 0);
}
