// The tables that migrations/ makes, as Kysely sees them.
import type { ColumnType, Generated, JSONColumnType } from 'kysely';

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

export interface Tables {
  paste: PasteTable;
  pasteLanguageCount: PasteLanguageCountTable;
  pasteDayCount: PasteDayCountTable;
  lease: LeaseTable;
  jobRun: JobRunTable;
}
