// The public counts, with bars drawn on the server.
import { html } from 'ghtml';
import { figures, proportionBar } from '../../pages/figures.ts';
import { formatCount } from '../../pages/format.ts';
import { type AssetUrl, layout } from './layout.ts';

export interface StatsPageData {
  assets: AssetUrl;
  totalPastes: number;
  pastesToday: number;
  pastesThisWeek: number;
  /** Highest count first. */
  topLanguages: ReadonlyArray<{ language: string; languageName: string; count: number }>;
}

/** What was created, in numbers. */
export function statsPage(data: StatsPageData): string {
  const { assets, totalPastes, pastesToday, pastesThisWeek, topLanguages } = data;
  return layout(
    { assets, title: 'Statistics', current: 'statistics' },
    html`<h1>Statistics</h1>
!${figures([
      { label: 'Today', value: pastesToday, note: 'since 00:00 UTC' },
      { label: 'This week', value: pastesThisWeek, note: 'since Monday, UTC' },
      { label: 'In all', value: totalPastes, note: 'deleted ones included' },
    ])}
<section class="card" aria-labelledby="languages-heading">
<h2 id="languages-heading">Languages</h2>
!${topLanguages.length === 0 ? '<p class="hint">Nothing has been pasted yet.</p>' : languageTable(topLanguages)}
</section>`,
  );
}

function languageTable(topLanguages: StatsPageData['topLanguages']): string {
  const most = Math.max(1, ...topLanguages.map(({ count }) => count));
  const rows = topLanguages.map(
    ({ languageName, count }) =>
      html`<tr><th scope="row">${languageName}</th><td class="bar-cell">!${proportionBar(count, most)}</td><td class="count">${formatCount(count)}</td></tr>
`,
  );
  return html`<table class="bars">
<thead class="visually-hidden"><tr><th scope="col">Language</th><td></td><th scope="col">Pastes</th></tr></thead>
<tbody>!${rows}</tbody>
</table>`;
}
