// The charts as text: heights, scales and labels.
import { describe, expect, it } from 'vitest';
import { dayMarks, formatMark, roundMarks } from '../../../src/server/links/pages/chart-scales.ts';
import { barList, timelineChart } from '../../../src/server/links/pages/charts.ts';

const DAY_MS = 86_400_000;
const today = Date.parse('2026-11-20');

/** Days up to today with these clicks, the last of them today's. */
function aTimeline(clicks: number[]) {
  return clicks.map((count, index) => ({
    date: new Date(today - (clicks.length - 1 - index) * DAY_MS).toISOString().slice(0, 10),
    clicks: count,
  }));
}

const barsOf = (chart: string) =>
  [...chart.matchAll(/class="day-bar" x="[\d.]+" y="([\d.]+)" width="[\d.]+" height="([\d.]+)"/g)].map(
    ([, y, height]) => ({ y: Number(y), height: Number(height) }),
  );

describe('the chart of days', () => {
  it('draws a bar as high as its clicks, standing on the base line', () => {
    const chart = timelineChart(aTimeline([5, 20, 10, 0]));
    expect(chart).toContain('viewBox="0 0 4 20"');
    expect(barsOf(chart)).toEqual([
      { y: 15, height: 5 },
      { y: 0, height: 20 },
      { y: 10, height: 10 },
      { y: 20, height: 0 },
    ]);
  });

  it('leaves a single click to be seen beside thousands', () => {
    expect(barsOf(timelineChart(aTimeline([10_000, 1, 0]))).map(({ height }) => height)).toEqual([
      10_000, 100, 0,
    ]);
  });

  it('names each day and its clicks, those without any among them', () => {
    const chart = timelineChart(aTimeline([1_200, 1, 0]));
    expect([...chart.matchAll(/<title>([^<]*)/g)].map(([, title]) => title)).toEqual([
      '18 Nov 2026: 1,200 clicks',
      '19 Nov 2026: 1 click',
      '20 Nov 2026: 0 clicks',
    ]);
  });

  it('has a name, and its numbers in a table, latest first', () => {
    const chart = timelineChart(aTimeline([3, 4]));
    expect(chart).toMatch(/role="img" aria-label="7 clicks by day, 19 Nov 2026 to 20 Nov 2026/);
    const rows = [...chart.matchAll(/<time datetime="([\d-]+)">[^<]*<\/time><\/th><td>(\d+)/g)];
    expect(rows.map(([, date, clicks]) => [date, clicks])).toEqual([
      ['2026-11-20', '4'],
      ['2026-11-19', '3'],
    ]);
  });

  it('says so when there is nothing to draw', () => {
    expect(timelineChart(aTimeline([0, 0]))).toBe('<p class="empty">No clicks yet.</p>');
    expect(timelineChart([], { empty: 'Nothing.' })).toBe('<p class="empty">Nothing.</p>');
  });
});

describe('the scale of counts', () => {
  it.each([
    [1, ['0', '1']],
    [3, ['0', '1', '2', '3']],
    [5, ['0', '2', '4', '6']],
    [37, ['0', '10', '20', '30', '40']],
    [999, ['0', '500', '1K']],
    [1_530, ['0', '500', '1K', '1.5K', '2K']],
    [20_000, ['0', '5K', '10K', '15K', '20K']],
    [2_500_000, ['0', '1M', '2M', '3M']],
  ])('of at most %i has the marks %j', (most, marks) => {
    expect(roundMarks(most).map(formatMark)).toEqual(marks);
  });
});

describe('the labels of days', () => {
  const marksOf = (days: number) =>
    dayMarks(aTimeline(Array.from({ length: days }, () => 1)).map(({ date }) => date));

  it('name each day of a week and each week of a month, up to today', () => {
    expect(marksOf(3).map(({ text }) => text)).toEqual(['18 Nov', '19 Nov', '20 Nov']);
    expect(marksOf(30).map(({ text }) => text)).toEqual(['23 Oct', '30 Oct', '6 Nov', '13 Nov', '20 Nov']);
  });

  it('name the months of a year', () => {
    expect(
      marksOf(365)
        .map(({ text }) => text)
        .join(' '),
    ).toBe('Dec Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov');
  });

  it('leave each other room at every length, in a wide window and in a narrow one', () => {
    // Widths of the plot and of a letter, both in pixels.
    const letter = 7;
    for (let days = 1; days <= 365; days++) {
      const marks = marksOf(days);
      expect(marks.length, `${days} days`).toBeGreaterThan(0);
      for (const [width, shown] of [
        [560, marks],
        [262, marks.filter(({ minor }) => !minor)],
      ] as const) {
        const apart = shown.slice(1).map(({ index }, place) => {
          const before = shown[place];
          return ((index - (before?.index ?? 0)) / days) * width;
        });
        const longest = Math.max(...shown.map(({ text }) => text.length)) * letter;
        // The last label may be moved to the left by half of its length.
        expect(Math.min(...apart, Number.POSITIVE_INFINITY), `${days} days in ${width}`).toBeGreaterThan(
          longest,
        );
      }
    }
  });
});

describe('the list of bars', () => {
  it('draws bars in proportion to the largest, and shares of the whole', () => {
    const list = barList(
      [
        { name: 'Firefox', count: 200 },
        { name: 'Safari', count: 50 },
        { name: 'Unknown', count: 1 },
      ],
      { label: 'Browsers', total: 500 },
    );
    expect([...list.matchAll(/<rect width="([\d.]+)"/g)].map(([, width]) => width)).toEqual([
      '100.0',
      '25.0',
      '0.5',
    ]);
    expect([...list.matchAll(/class="share">([^<]*)/g)].map(([, share]) => share)).toEqual([
      '40 %',
      '10 %',
      '&#60; 1 %',
    ]);
    expect(list).toContain('<th scope="col">Browsers</th>');
  });

  it('takes the sum of its rows for the whole when none is given', () => {
    const list = barList(
      [
        { name: 'a', count: 3 },
        { name: 'b', count: 1 },
      ],
      { label: 'Names' },
    );
    expect(list).toContain('75 %');
  });

  it('says so when there is nothing to list', () => {
    expect(barList([], { label: 'Browsers' })).toContain('No clicks yet.');
  });
});
