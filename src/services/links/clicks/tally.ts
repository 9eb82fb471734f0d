// Counting a batch of clicks in memory: by link, by link and day, and over all links.
import type { NameCounts } from '../../../platform/database/tables.ts';
import type { Click } from './click.ts';

export type Dimension = 'browser' | 'operatingSystem' | 'device' | 'referrerHost';

export const DIMENSIONS: readonly Dimension[] = ['browser', 'operatingSystem', 'device', 'referrerHost'];

/** Dimensions that are also counted over all links; referrers are nobody's business but their link's. */
export const GLOBAL_DIMENSIONS: readonly Dimension[] = ['browser', 'operatingSystem', 'device'];

/** What clicks that links brought along are counted under over all links: of those only the number is known. */
export const IMPORTED = 'imported';

/** Where names beyond the bound of a dimension are counted. */
export const OTHER = 'Other';

// Visitors choose what their Referer says: without a bound a link's row would grow with its clicks. Beyond it the
// rarest names go to `Other`, so that one which comes late and often still finds its place.
const KEPT_NAMES = 200;
const MOST_NAMES = 250;

/** How often each name came, by dimension. Maps, since visitors choose names: `__proto__` is a host like any other. */
export type Names = Map<Dimension, Map<string, number>>;

export interface LinkTally {
  clicks: number;
  names: Names;
  /** Clicks by UTC day. */
  days: Map<string, number>;
}

const DAY_MS = 86_400_000;

/** The UTC day of a moment: `2026-01-31`. */
export function dayOf(momentMs: number): string {
  return new Date(momentMs).toISOString().slice(0, 10);
}

/** Counts clicks by link. */
export function tallyByLink(clicks: readonly Click[]): Map<number, LinkTally> {
  const tallies = new Map<number, LinkTally>();
  let day = { number: Number.NaN, name: '' };
  for (const click of clicks) {
    const number = Math.floor(click.clickedAt / DAY_MS);
    if (number !== day.number) day = { number, name: dayOf(click.clickedAt) };
    let tally = tallies.get(click.linkKey);
    if (!tally) {
      tally = { clicks: 0, names: new Map(), days: new Map() };
      tallies.set(click.linkKey, tally);
    }
    tally.clicks++;
    increase(tally.days, day.name, 1);
    for (const dimension of DIMENSIONS) increase(namesOf(tally.names, dimension), click[dimension], 1);
  }
  return tallies;
}

/** Adds tallies to others, in place. */
export function addTallies(target: Map<number, LinkTally>, added: ReadonlyMap<number, LinkTally>): void {
  for (const [linkKey, tally] of added) {
    const known = target.get(linkKey);
    if (!known) {
      target.set(linkKey, tally);
      continue;
    }
    known.clicks += tally.clicks;
    addNames(known.names, tally.names);
    for (const [day, count] of tally.days) increase(known.days, day, count);
  }
}

/** Adds counts to others, in place; names beyond the bound of a dimension go to `Other`. */
export function addNames(target: Names, added: Names): void {
  for (const [dimension, counts] of added) {
    const known = namesOf(target, dimension);
    for (const [name, count] of counts) increase(known, name, count);
    if (known.size > MOST_NAMES) target.set(dimension, mostFrequent(known));
  }
}

function mostFrequent(counts: ReadonlyMap<string, number>): Map<string, number> {
  const ranked = [...counts].filter(([name]) => name !== OTHER).sort(([, a], [, b]) => b - a);
  const kept = new Map(ranked.slice(0, KEPT_NAMES));
  const rest = ranked.slice(KEPT_NAMES).reduce((sum, [, count]) => sum + count, counts.get(OTHER) ?? 0);
  return kept.set(OTHER, rest);
}

/** Counts as a row holds them. */
export function namesFromRow(row: NameCounts | null): Names {
  const names: Names = new Map();
  for (const dimension of DIMENSIONS) {
    const counts = row?.[dimension];
    if (counts) names.set(dimension, new Map(Object.entries(counts)));
  }
  return names;
}

/** The JSON of counts, for a row. */
export function namesToJson(names: Names): string {
  return JSON.stringify(
    Object.fromEntries([...names].map(([dimension, counts]) => [dimension, Object.fromEntries(counts)])),
  );
}

function namesOf(names: Names, dimension: Dimension): Map<string, number> {
  const known = names.get(dimension);
  if (known) return known;
  const made = new Map<string, number>();
  names.set(dimension, made);
  return made;
}

function increase(counts: Map<string, number>, name: string, by: number): void {
  counts.set(name, (counts.get(name) ?? 0) + by);
}
