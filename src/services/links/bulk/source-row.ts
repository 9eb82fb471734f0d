// A row of a file, readable or not.
import type { BulkRow } from './columns.ts';

export interface SourceRow {
  /** Which row of the file it is: of a CSV as a spreadsheet counts, the header being 1; of JSON which link, from 1. */
  row: number;
  fields: BulkRow;
  /** Why nothing can be made of it. */
  unreadable?: string;
}
