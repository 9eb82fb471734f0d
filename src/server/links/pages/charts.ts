// Charts as SVG, drawn on the server: clicks by day, and names by how often they came.
import { html } from 'ghtml';
import { proportionBar } from '../../pages/figures.ts';
import { formatCount, formatQuantity } from '../../pages/format.ts';
import { dayMarks, formatDate, formatMark, roundMarks } from './chart-scales.ts';

export interface DayCount {
  /** YYYY-MM-DD */
  date: string;
  clicks: number;
}

export interface NamedCount {
  name: string;
  count: number;
}

const PLOT_HEIGHT = 180;
// More days than this have a pixel or two each: gaps between their bars would only blur them.
const MOST_DAYS_APART = 120;
// Of the plot: what happened once must not look like what never happened.
const LEAST_BAR = 0.01;

/**
 * Draws one bar a day, with the same numbers in a table below.
 *
 * Widths are shares of the chart, so that it fits any window; heights and letters are not scaled with it.
 */
export function timelineChart(timeline: readonly DayCount[], { empty = 'No clicks yet.' } = {}): string {
  const total = timeline.reduce((sum, { clicks }) => sum + clicks, 0);
  if (total === 0) return html`<p class="empty">${empty}</p>`;
  const marks = roundMarks(Math.max(...timeline.map(({ clicks }) => clicks)));
  const top = marks.at(-1) ?? 1;
  const width = timeline.length > MOST_DAYS_APART ? 1 : 0.8;
  return html`<svg class="timeline" height="${PLOT_HEIGHT + 30}" role="img" aria-label="${summary(timeline, total)}">
!${marks.map((mark) => countMark(mark, top))}
<svg y="6" width="100%" height="${PLOT_HEIGHT}" viewBox="0 0 ${timeline.length} ${top}" preserveAspectRatio="none" shape-rendering="crispEdges">
!${timeline.map((day, index) => dayBar(day, { index, width, top }))}</svg>
!${dayLabels(timeline)}
</svg>
!${dayTable(timeline)}`;
}

function summary(timeline: readonly DayCount[], total: number): string {
  const [first, last] = [timeline[0]?.date ?? '', timeline.at(-1)?.date ?? ''];
  return `${formatQuantity(total, 'click')} by day, ${formatDate(first)} to ${formatDate(last)}; the table below has the numbers`;
}

function countMark(mark: number, top: number): string {
  const y = (6 + PLOT_HEIGHT * (1 - mark / top)).toFixed(1);
  return html`<line class="${mark === 0 ? 'base-line' : 'grid-line'}" x2="100%" y1="${y}" y2="${y}"/><text class="count-mark" x="-8" y="${y}" dy="0.32em">${formatMark(mark)}</text>`;
}

// The whole column answers to the pointer: a bar of one click would be hard to hit.
function dayBar(
  { date, clicks }: DayCount,
  { index, width, top }: { index: number; width: number; top: number },
): string {
  const height = clicks === 0 ? 0 : Math.max(clicks, top * LEAST_BAR);
  const x = Number((index + (1 - width) / 2).toFixed(1));
  return html`<g class="day"><title>${formatDate(date)}: ${formatQuantity(clicks, 'click')}</title><rect class="column" x="${index}" width="1" height="${top}"/><rect class="day-bar" x="${x}" y="${top - height}" width="${width}" height="${height}"/></g>
`;
}

function dayLabels(timeline: readonly DayCount[]): string {
  return dayMarks(timeline.map(({ date }) => date))
    .map(({ index, text, minor }) => {
      const middle = ((index + 0.5) / timeline.length) * 100;
      // Centred, the label of the last day would stand half outside.
      const atEnd = middle > 97 ? 'at-end' : '';
      return html`<text class="day-mark ${minor ? 'minor' : ''} ${atEnd}" x="${atEnd ? '100' : middle.toFixed(2)}%" y="${PLOT_HEIGHT + 25}">${text}</text>`;
    })
    .join('');
}

function dayTable(timeline: readonly DayCount[]): string {
  const rows = timeline.toReversed().map(
    ({ date, clicks }) =>
      html`<tr><th scope="row"><time datetime="${date}">${formatDate(date)}</time></th><td>${formatCount(clicks)}</td></tr>
`,
  );
  return html`<details class="day-table">
<summary>Show as a table</summary>
<div class="scrolling" tabindex="0" role="region" aria-label="Clicks by day, as a table">
<table>
<thead><tr><th scope="col">Day</th><th scope="col">Clicks</th></tr></thead>
<tbody>
!${rows}</tbody>
</table>
</div>
</details>`;
}

/**
 * Draws a bar for each name, with its count and its share.
 *
 * @param label - what the names are, for the head of the table
 * @param total - what the shares are of; the sum of the rows when left out
 */
export function barList(
  rows: readonly NamedCount[],
  { label, total }: { label: string; total?: number },
): string {
  if (rows.length === 0) return '<p class="empty">No clicks yet.</p>';
  const most = Math.max(1, ...rows.map(({ count }) => count));
  const whole = total ?? rows.reduce((sum, { count }) => sum + count, 0);
  const lines = rows.map(
    ({ name, count }) =>
      html`<tr><th scope="row" title="${name}">${name}</th><td class="bar-cell">!${proportionBar(count, most)}</td><td class="count">${formatCount(count)}</td><td class="share">${formatShare(count, whole)}</td></tr>
`,
  );
  return html`<table class="bars">
<thead class="visually-hidden"><tr><th scope="col">${label}</th><td></td><th scope="col">Clicks</th><th scope="col">Share</th></tr></thead>
<tbody>
!${lines}</tbody>
</table>`;
}

function formatShare(count: number, whole: number): string {
  if (count === 0 || whole === 0) return '0 %';
  const percent = Math.round((count / whole) * 100);
  return percent === 0 ? '< 1 %' : `${percent} %`;
}
