// Counts of what was ever created, purged or not, read from rollups: their cost does not grow with the pastes.
import { sql } from 'kysely';
import type { PasteService } from './paste-service.ts';

export interface PasteStatistics {
  totalPastes: number;
  /** Since 00:00 UTC. */
  pastesToday: number;
  /** Since Monday 00:00 UTC. */
  pastesThisWeek: number;
  /** At most 10, by count, then name. */
  topLanguages: Array<{ language: string; count: number }>;
}

const TOP_LANGUAGES = 10;
const DAY_MS = 86_400_000;

/** Reads the statistics. */
export async function pasteStatistics({ platform }: PasteService): Promise<PasteStatistics> {
  const now = new Date(platform.clock.now());
  const today = now.toISOString().slice(0, 10);
  const daysSinceMonday = (now.getUTCDay() + 6) % 7;
  const monday = new Date(now.getTime() - daysSinceMonday * DAY_MS).toISOString().slice(0, 10);
  const { rows } = await sql<{ kind: 'language' | 'day'; name: string; count: number }>`
    SELECT 'language' AS kind, language AS name, sum(count)::bigint AS count FROM paste_language_count GROUP BY language
    UNION ALL
    SELECT 'day', to_char(day, 'YYYY-MM-DD'), sum(count)::bigint FROM paste_day_count
    WHERE day BETWEEN ${monday}::date AND ${today}::date GROUP BY day`.execute(platform.database);

  const languages = rows.filter(({ kind }) => kind === 'language');
  const days = rows.filter(({ kind }) => kind === 'day');
  return {
    totalPastes: total(languages),
    pastesToday: total(days.filter(({ name }) => name === today)),
    pastesThisWeek: total(days),
    topLanguages: languages
      .sort((a, b) => b.count - a.count || (a.name < b.name ? -1 : 1))
      .slice(0, TOP_LANGUAGES)
      .map(({ name, count }) => ({ language: name, count })),
  };
}

function total(rows: Array<{ count: number }>): number {
  return rows.reduce((sum, { count }) => sum + count, 0);
}
