// The statistics of a link as a picture of characters.

export interface LinkStatisticsJson {
  shortCode: string;
  totalClicks: number;
  createdAt: string;
  expiresAt: string | null;
  timeline: Array<{ date: string; clicks: number }>;
  browsers: Row[];
  operatingSystems: Row[];
  devices: Row[];
  topReferrers: Array<{ host: string; count: number }>;
}

interface Row {
  name: string;
  count: number;
}

export interface DrawingOptions {
  /** Columns of the terminal. */
  width: number;
  isColoured: boolean;
}

const LEVELS = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
const EIGHTHS = ['', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
const CHART_ROWS = 5;
const NAME_WIDTH = 22;
const BAR_WIDTH = 30;

/** Draws the timeline and the bars. */
export function drawStatistics(
  statistics: LinkStatisticsJson,
  { width, isColoured }: DrawingOptions,
): string {
  const { shortCode, totalClicks, createdAt, expiresAt, timeline } = statistics;
  const paint = (text: string, code: string) => (isColoured ? `\u001b[${code}m${text}\u001b[0m` : text);
  const heading = (text: string) => `\n${paint(text, '1')}\n`;
  const expiry = expiresAt === null ? 'never expires' : `expires ${expiresAt}`;
  const sections: Array<[string, Row[]]> = [
    ['Browsers', statistics.browsers],
    ['Operating systems', statistics.operatingSystems],
    ['Devices', statistics.devices],
    ['Referrers', statistics.topReferrers.map(({ host, count }) => ({ name: host, count }))],
  ];
  return [
    `${paint(shortCode, '1')}  ${totalClicks} ${totalClicks === 1 ? 'click' : 'clicks'}, created ${createdAt}, ${expiry}\n`,
    heading(`Clicks by day (UTC), last ${timeline.length} ${timeline.length === 1 ? 'day' : 'days'}`),
    drawTimeline(timeline, width, (text) => paint(text, '36')),
    ...sections.map(
      ([title, rows]) => heading(title) + drawBars(rows, totalClicks, (text) => paint(text, '36')),
    ),
  ].join('');
}

/** Columns of clicks; several days share a column where the terminal is narrower than the days are many. */
function drawTimeline(
  timeline: LinkStatisticsJson['timeline'],
  width: number,
  paint: (text: string) => string,
): string {
  const most = Math.max(1, width - 10);
  const daysAColumn = Math.ceil(timeline.length / most);
  const columns: number[] = [];
  for (let start = 0; start < timeline.length; start += daysAColumn) {
    columns.push(timeline.slice(start, start + daysAColumn).reduce((sum, { clicks }) => sum + clicks, 0));
  }
  const highest = Math.max(...columns);
  if (highest === 0) return 'no clicks\n';
  const columnWidth = Math.max(1, Math.min(3, Math.floor(most / columns.length)));
  const rows = Array.from({ length: CHART_ROWS }, (_, index) => {
    const base = CHART_ROWS - 1 - index;
    const cells = columns.map((count) => {
      const filled = (count / highest) * CHART_ROWS - base;
      // A day with a click is never drawn as one without.
      const level = Math.min(8, Math.max(base === 0 && count > 0 ? 1 : 0, Math.round(filled * 8)));
      return (LEVELS[level] ?? ' ').repeat(Math.max(1, columnWidth - 1)).padEnd(columnWidth);
    });
    const label = index === 0 ? String(highest) : index === CHART_ROWS - 1 ? '0' : '';
    return `${label.padStart(7)} │${paint(cells.join('').trimEnd())}\n`;
  });
  const [first, last] = [timeline[0]?.date ?? '', timeline.at(-1)?.date ?? ''];
  const span = Math.max(first.length + 1, columns.length * columnWidth - last.length);
  const axis = timeline.length === 1 ? first : `${first.padEnd(span)}${last}`;
  return `${rows.join('')}${' '.repeat(9)}${axis}\n`;
}

function drawBars(rows: Row[], total: number, paint: (text: string) => string): string {
  if (rows.length === 0) return 'no clicks\n';
  const highest = Math.max(...rows.map(({ count }) => count));
  return rows
    .map(({ name, count }) => {
      const eighths = Math.max(1, Math.round((count / highest) * BAR_WIDTH * 8));
      const bar = '█'.repeat(Math.floor(eighths / 8)) + (EIGHTHS[eighths % 8] ?? '');
      const share = `${((100 * count) / Math.max(1, total)).toFixed(1)}%`;
      const shown = name.length > NAME_WIDTH ? `${name.slice(0, NAME_WIDTH - 1)}…` : name;
      return `${shown.padEnd(NAME_WIDTH)} ${paint(bar)} ${count} (${share})\n`;
    })
    .join('');
}
