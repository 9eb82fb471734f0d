// Many clicks as they travel from the redirect to the tables: column by column, so that writing thousands of rows
// costs a handful of long texts; and counted already.
import type { Click } from './click.ts';
import { type LinkTally, tallyByLink } from './tally.ts';

/** Between the values of a column; no value has one. */
export const SEPARATOR = '\t';
const BETWEEN_COLUMNS = '\n';

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
  return { columns: columnsOf(clicks), tallies: tallyByLink(clicks) };
}

/** At least one click as an entry of the journal: next to no work, for who writes it has redirects to answer. */
export function encodeClicks(clicks: readonly Click[]): string {
  return columnsOf(clicks).join(BETWEEN_COLUMNS);
}

/** The batch of a journal entry. */
export function decodeBatch(entry: string): ClickBatch {
  const columns = entry.split(BETWEEN_COLUMNS);
  const [linkKeys = [], ...others] = columns.map((column) => column.split(SEPARATOR));
  const clicks = linkKeys.map((linkKey, row): Click => {
    const [clickedAt, browser = '', operatingSystem = '', device = '', referrerHost = '', addressHash = ''] =
      others.map((values) => values[row]);
    return {
      linkKey: Number(linkKey),
      clickedAt: Number(clickedAt),
      browser,
      operatingSystem,
      device,
      referrerHost,
      addressHash,
    };
  });
  return { columns, tallies: tallyByLink(clicks) };
}

function columnsOf(clicks: readonly Click[]): string[] {
  return CLICK_COLUMNS.map((column) => clicks.map((click) => click[column]).join(SEPARATOR));
}
