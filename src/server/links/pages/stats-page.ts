// The public counts over all links.
import { html } from 'ghtml';
import { figures } from '../../pages/figures.ts';
import type { AssetUrl } from '../../pages/layout.ts';
import { barCard } from './bar-card.ts';
import type { NamedCount } from './charts.ts';
import { layout } from './layout.ts';

export interface StatsPageData {
  assets: AssetUrl;
  totalLinks: number;
  totalClicks: number;
  linksToday: number;
  linksThisWeek: number;
  /** Highest count first, as the other two. */
  topBrowsers: readonly NamedCount[];
  topOperatingSystems: readonly NamedCount[];
  topDevices: readonly NamedCount[];
}

/** What was created and followed, in numbers. */
export function statsPage(data: StatsPageData): string {
  const { assets, totalLinks, totalClicks, linksToday, linksThisWeek } = data;
  const card = (label: string, rows: readonly NamedCount[]) => barCard(rows, { label, total: totalClicks });
  return layout(
    { assets, title: 'Statistics', current: 'statistics', body: 'medium', styles: ['charts.css'] },
    html`<h1>Statistics</h1>
!${figures([
      { label: 'Links', value: totalLinks, note: 'deleted ones included' },
      { label: 'Clicks', value: totalClicks, note: 'on all links' },
      { label: 'New today', value: linksToday, note: 'since 00:00 UTC' },
      { label: 'New this week', value: linksThisWeek, note: 'since Monday, UTC' },
    ])}
<div class="bar-cards one-beside-two">
!${card('Browsers', data.topBrowsers)}
!${card('Operating systems', data.topOperatingSystems)}
!${card('Devices', data.topDevices)}
</div>`,
  );
}
