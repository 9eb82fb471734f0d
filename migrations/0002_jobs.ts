// Leases, so that a job never runs twice at once, and the history of runs.
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('lease')
    .addColumn('name', 'text', (column) => column.primaryKey())
    .addColumn('token', 'text', (column) => column.notNull())
    .addColumn('holder', 'text', (column) => column.notNull())
    .addColumn('acquired_at', 'timestamptz', (column) => column.notNull())
    .addColumn('expires_at', 'timestamptz', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('job_run')
    .addColumn('job_run_id', 'bigint', (column) => column.generatedAlwaysAsIdentity().primaryKey())
    .addColumn('job', 'text', (column) => column.notNull())
    .addColumn('scheduled_for', 'timestamptz')
    .addColumn('started_at', 'timestamptz', (column) => column.notNull())
    .addColumn('finished_at', 'timestamptz')
    .addColumn('status', 'text', (column) =>
      column.notNull().check(sql`status IN ('running', 'succeeded', 'failed', 'skipped')`),
    )
    .addColumn('holder', 'text', (column) => column.notNull())
    .addColumn('result', 'jsonb')
    .addColumn('error', 'text')
    // Two schedulers over one database meet here: the minute belongs to the one that comes first.
    .addUniqueConstraint('job_run_once_per_schedule', ['job', 'scheduled_for'])
    .execute();
  await db.schema.createIndex('job_run_newest').on('job_run').columns(['job', 'started_at']).execute();
}

export async function down(db: Kysely<never>): Promise<void> {
  await db.schema.dropTable('job_run').execute();
  await db.schema.dropTable('lease').execute();
}
