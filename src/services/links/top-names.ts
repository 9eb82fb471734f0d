// The names that came most often.

export interface NameCount {
  name: string;
  count: number;
}

const MOST_NAMES = 10;

/** At most 10 names, by count, then name (contract, section 4). */
export function topNames(counts: Readonly<Record<string, number>> | undefined): NameCount[] {
  return Object.entries(counts ?? {})
    .map(([name, count]) => ({ name, count }))
    .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
    .slice(0, MOST_NAMES);
}
