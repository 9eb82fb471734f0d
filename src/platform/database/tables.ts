// The tables that migrations/ makes, as Kysely sees them.
import type { ColumnType, Generated, JSONColumnType } from 'kysely';
import type { KanbanTables } from './kanban-tables.ts';

// pg answers bigint as text unless told otherwise; connect.ts tells it to parse (counts stay below 2^53).
type BigInt8 = ColumnType<number, number | undefined, number>;

export interface PasteTable {
  /** Identity of this paste; a paste id can be used again once its paste is gone. */
  pasteKey: Generated<number>;
  pasteId: string;
  title: string | null;
  content: string;
  language: string;
  createdAt: Date;
  expiresAt: Date;
  viewCount: Generated<number>;
  burnAfterRead: boolean;
  sizeBytes: number;
  passwordHash: string | null;
  deleteTokenHash: Buffer;
}

/** Pastes ever created, by language. Spread over shards so that racing creations do not queue for one row. */
export interface PasteLanguageCountTable {
  language: string;
  shard: number;
  count: BigInt8;
}

/** Pastes ever created, by UTC day. */
export interface PasteDayCountTable {
  day: string;
  shard: number;
  count: BigInt8;
}

export interface LinkTable {
  /** Identity of this link; a short code can be used again once its link is gone. */
  linkKey: Generated<number>;
  shortCode: string;
  originalUrl: string;
  createdAt: Date;
  expiresAt: Date | null;
  passwordHash: string | null;
  /** Null for imported links: nobody was given a token. */
  deleteTokenHash: Buffer | null;
}

/** Links ever created, by UTC day. */
export interface LinkDayCountTable {
  day: string;
  count: BigInt8;
}

/** One click, anonymised. Partitioned by month. */
export interface ClickTable {
  linkKey: number;
  clickedAt: Date;
  browser: string;
  operatingSystem: string;
  device: string;
  referrerHost: string;
  addressHash: string;
}

/** How often each name came, by dimension: `{"browser": {"Firefox": 3}, …}`. */
export type NameCounts = Record<string, Record<string, number>>;

/** All clicks of a link, counted. */
export interface ClickSummaryTable {
  linkKey: number;
  clicks: BigInt8;
  names: JSONColumnType<NameCounts>;
}

/** Clicks of a link by UTC day. */
export interface ClickDayTable {
  linkKey: number;
  day: string;
  clicks: BigInt8;
}

/** Clicks of all links, those that are gone among them, by dimension and name. */
export interface ClickNameCountTable {
  dimension: string;
  name: string;
  clicks: BigInt8;
}

/** The one row that everybody locks who writes counts or removes a link. */
export interface ClickLedgerTable {
  onlyRow: boolean;
  /** How far the journal in Redis has been written down. */
  journalPosition: string;
}

/** Links that are gone whose raw clicks are still being removed. */
export interface LinkRemovalTable {
  linkKey: number;
  removedAt: Date;
}

/** How far the import of a file has come. */
export interface LinkImportTable {
  /** SHA-256 of the file. */
  fileHash: string;
  rowsDone: BigInt8;
  imported: BigInt8;
  refused: BigInt8;
  updatedAt: Date;
}

/** Named locks that one holder has until they end; every write under one checks its token. */
export interface LeaseTable {
  name: string;
  token: string;
  holder: string;
  acquiredAt: Date;
  expiresAt: Date;
}

export type JobRunStatus = 'running' | 'succeeded' | 'failed' | 'skipped';

export interface JobRunTable {
  jobRunId: Generated<number>;
  job: string;
  /** The minute of the schedule it ran for; null when a person started it. */
  scheduledFor: Date | null;
  startedAt: Date;
  finishedAt: Date | null;
  status: JobRunStatus;
  holder: string;
  result: JSONColumnType<Record<string, unknown>> | null;
  error: string | null;
}

export interface Tables extends KanbanTables {
  paste: PasteTable;
  pasteLanguageCount: PasteLanguageCountTable;
  pasteDayCount: PasteDayCountTable;
  link: LinkTable;
  linkDayCount: LinkDayCountTable;
  click: ClickTable;
  clickSummary: ClickSummaryTable;
  clickDay: ClickDayTable;
  clickNameCount: ClickNameCountTable;
  clickLedger: ClickLedgerTable;
  linkRemoval: LinkRemovalTable;
  linkImport: LinkImportTable;
  lease: LeaseTable;
  jobRun: JobRunTable;
}
