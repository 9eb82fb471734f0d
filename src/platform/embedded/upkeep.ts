// What PostgreSQL's background processes would do. PGlite has none: without this its log grows for ever, and
// deleted rows keep their room and mislead the planner.
import type { Front } from './front.ts';
import { HEADER_BYTES } from './wire.ts';

const CHECK_EVERY_MS = 2000;
/** More log than this since the last checkpoint calls for the next; it bounds both the files and a recovery. */
const CHECKPOINT_AFTER_BYTES = 32 * 1024 * 1024;
const VACUUM_EVERY_CHECKS = 30;

const LOG_BYTES_SQL =
  'SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), redo_lsn)::bigint FROM pg_control_checkpoint()';

/** Autovacuum's own rules (autovacuum_vacuum_threshold, _scale_factor and their kin for analyze), one table a time. */
const VACUUM_CANDIDATE_SQL = `
  SELECT format('VACUUM (ANALYZE) %I.%I', schemaname, relname)
  FROM pg_stat_user_tables
  WHERE n_dead_tup > 50 + 0.2 * n_live_tup
     OR n_ins_since_vacuum > 1000 + 0.2 * n_live_tup
     OR n_mod_since_analyze > 50 + 0.1 * n_live_tup
  ORDER BY n_dead_tup DESC
  LIMIT 1`;

/** Text of the first column of the first DataRow in an answer. */
export function firstValue(answer: Buffer): string | undefined {
  for (let start = 0; start + HEADER_BYTES <= answer.length; ) {
    const end = start + 1 + answer.readUInt32BE(start + 1);
    if (answer[start] === 0x44) {
      // Number of columns (2 bytes), length of the first (4 bytes), its text.
      const length = answer.readInt32BE(start + HEADER_BYTES + 2);
      const text = start + HEADER_BYTES + 6;
      return length < 0 ? undefined : answer.toString('utf8', text, text + length);
    }
    start = end;
  }
  return undefined;
}

/** One round: a checkpoint where the log has grown; and, when asked, one VACUUM of the table that needs it most. */
export async function keepUp(front: Front, { vacuum }: { vacuum: boolean }): Promise<void> {
  const logBytes = Number(firstValue(await front.runWhenFree(LOG_BYTES_SQL)) ?? 0);
  if (logBytes > CHECKPOINT_AFTER_BYTES) await front.runWhenFree('CHECKPOINT');
  if (!vacuum) return;
  const statement = firstValue(await front.runWhenFree(VACUUM_CANDIDATE_SQL));
  if (statement !== undefined) await front.runWhenFree(statement);
}

/**
 * Does a round every two seconds, each one waiting for its turn like any client.
 *
 * @returns the function that stops it
 */
export function startUpkeep(front: Front): () => void {
  let checks = 0;
  let underWay = false;
  const timer = setInterval(() => {
    if (underWay) return;
    underWay = true;
    checks += 1;
    keepUp(front, { vacuum: checks % VACUUM_EVERY_CHECKS === 0 })
      // A failure here is the death of the backend, which is reported by the front itself.
      .catch(() => {})
      .finally(() => {
        underWay = false;
      });
  }, CHECK_EVERY_MS);
  return () => clearInterval(timer);
}
