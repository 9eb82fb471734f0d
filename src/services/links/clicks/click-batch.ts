// Many clicks as they travel from the redirect to the tables: column by column, so that writing thousands of rows
// costs a handful of long texts; and counted already.
import type { Click } from './click.ts';
import { type LinkTally, type Names, tallyByLink } from './tally.ts';

/** Between the values of a column; no value has one. */
export const SEPARATOR = '\t';

/** In the order of the columns of the table. */
export const CLICK_COLUMNS = [
  'linkKey',
  'clickedAt',
  'browser',
  'operatingSystem',
  'device',
  'referrerHost',
  'addressHash',
] as const satisfies ReadonlyArray<keyof Click>;

export interface ClickBatch {
  /** The values of each column of `CLICK_COLUMNS`, with `SEPARATOR` between them. */
  columns: string[];
  tallies: Map<number, LinkTally>;
}

/** Makes a batch of at least one click. */
export function batchClicks(clicks: readonly Click[]): ClickBatch {
  return {
    columns: CLICK_COLUMNS.map((column) => clicks.map((click) => click[column]).join(SEPARATOR)),
    tallies: tallyByLink(clicks),
  };
}

type TallyTuple = [number, number, Array<[string, Array<[string, number]>]>, Array<[string, number]>];

/** A batch as an entry of the journal. */
export function encodeBatch({ columns, tallies }: ClickBatch): string {
  const tuples = [...tallies].map(
    ([linkKey, { clicks, names, days }]): TallyTuple => [
      linkKey,
      clicks,
      [...names].map(([dimension, counts]) => [dimension, [...counts]]),
      [...days],
    ],
  );
  return JSON.stringify([columns, tuples]);
}

/** The batch of a journal entry. */
export function decodeBatch(entry: string): ClickBatch {
  const [columns, tuples] = JSON.parse(entry) as [string[], TallyTuple[]];
  const tallies = tuples.map(([linkKey, clicks, names, days]): [number, LinkTally] => [
    linkKey,
    {
      clicks,
      names: new Map(names.map(([dimension, counts]) => [dimension, new Map(counts)])) as Names,
      days: new Map(days),
    },
  ]);
  return { columns, tallies: new Map(tallies) };
}
