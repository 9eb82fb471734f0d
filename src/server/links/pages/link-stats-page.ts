// The statistics of one link: when it was followed, with what, and from where.
import { html } from 'ghtml';
import { figures } from '../../pages/figures.ts';
import type { AssetUrl } from '../../pages/layout.ts';
import { relativeTime } from '../../pages/relative-time.ts';
import { barCard } from './bar-card.ts';
import { formatDay } from './chart-scales.ts';
import { type DayCount, type NamedCount, timelineChart } from './charts.ts';
import { layout } from './layout.ts';

export interface LinkStatsPageData {
  assets: AssetUrl;
  shortCode: string;
  shortUrl: string;
  totalClicks: number;
  createdAt: Date;
  expiresAt: Date | null;
  /** Length of the timeline. */
  days: number;
  /** Oldest day first, today (UTC) last. */
  timeline: readonly DayCount[];
  /** Highest count first, as the other three. */
  browsers: readonly NamedCount[];
  operatingSystems: readonly NamedCount[];
  devices: readonly NamedCount[];
  topReferrers: ReadonlyArray<{ host: string; count: number }>;
  now: Date;
}

const RANGES = [7, 30, 90, 365];

/** The page of a link's statistics. */
export function linkStatsPage(data: LinkStatsPageData): string {
  const { assets, shortCode, shortUrl, createdAt, expiresAt, now } = data;
  const isOver = expiresAt !== null && expiresAt <= now;
  const expiry =
    expiresAt === null
      ? 'Never expires'
      : `${isOver ? 'Expired' : 'Expires'} ${relativeTime(expiresAt, now)}`;
  return layout(
    { assets, title: `Statistics of /${shortCode}`, body: 'medium', styles: ['charts.css'] },
    html`<header class="stats-header">
<h1>Statistics of <span class="mono">/${shortCode}</span></h1>
<ul class="facts-line" aria-label="About this link">
<li><a href="/${shortCode}+">${shortUrl}</a></li>
<li>Created !${relativeTime(createdAt, now)}</li>
<li>!${expiry}</li>
</ul>
</header>
!${clickFigures(data)}
!${timelineCard(data)}
!${breakdown(data)}`,
  );
}

function clickFigures({ totalClicks, timeline, days }: LinkStatsPageData): string {
  const busiest = timeline.reduce<DayCount | undefined>(
    (most, day) => (day.clicks > (most?.clicks ?? 0) ? day : most),
    undefined,
  );
  return figures([
    { label: 'In all', value: totalClicks, note: 'since it was created' },
    { label: 'In this range', value: clicksIn(timeline), note: days === 1 ? 'today' : `last ${days} days` },
    { label: 'Today', value: timeline.at(-1)?.clicks ?? 0, note: 'since 00:00 UTC' },
    {
      label: 'Busiest day',
      value: busiest?.clicks ?? 0,
      note: busiest === undefined ? 'none in this range' : formatDay(busiest.date),
    },
  ]);
}

function timelineCard({ shortCode, timeline, days, totalClicks }: LinkStatsPageData): string {
  const ranges = RANGES.map(
    (range) =>
      html`<a href="/${shortCode}/stats?days=${range}" !${range === days ? 'aria-current="true"' : ''}><span class="visually-hidden">Last </span>${range}<span class="visually-hidden"> days</span></a>`,
  );
  const empty =
    totalClicks === 0 ? 'No clicks yet. The first one will show up here.' : 'No clicks in this range.';
  return html`<section class="card chart-card" aria-labelledby="timeline-heading">
<div class="chart-head">
<h2 id="timeline-heading">Clicks by day <span class="hint">UTC</span></h2>
<nav class="ranges" aria-label="Range in days"><span class="hint" aria-hidden="true">Days</span>!${ranges}</nav>
</div>
!${timelineChart(timeline, { empty })}
</section>`;
}

function breakdown(data: LinkStatsPageData): string {
  const { totalClicks, topReferrers } = data;
  if (totalClicks === 0) return '';
  const referrers = topReferrers.map(({ host, count }) => ({ name: host, count }));
  const card = (label: string, rows: readonly NamedCount[]) => barCard(rows, { label, total: totalClicks });
  return html`<p class="hint since">What follows is over all time.</p>
<div class="bar-cards">
!${card('Referrers', referrers)}
!${card('Browsers', data.browsers)}
!${card('Operating systems', data.operatingSystems)}
!${card('Devices', data.devices)}
</div>`;
}

function clicksIn(timeline: readonly DayCount[]): number {
  return timeline.reduce((sum, { clicks }) => sum + clicks, 0);
}
