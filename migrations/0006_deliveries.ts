// What webhooks are to be told: written in the transaction of the change, kept until it was delivered or given up.
import { type Kysely, sql } from 'kysely';

const id = sql`text COLLATE "C"`;

export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('webhook_delivery')
    // A ULID: ids sort by time.
    .addColumn('id', id, (column) => column.primaryKey())
    // Null for what outlives its webhook: that a board is deleted. It carries its target itself.
    .addColumn('webhook_id', id, (column) => column.references('webhook.id').onDelete('cascade'))
    .addColumn('url', 'text')
    .addColumn('secret', 'bytea')
    .addColumn('previous_secret', 'bytea')
    .addColumn('previous_secret_until', 'timestamptz')
    .addColumn('board_id', id, (column) => column.notNull())
    .addColumn('seq', 'bigint', (column) => column.notNull())
    .addColumn('verb', 'text', (column) => column.notNull())
    // Signed as it is, byte for byte.
    .addColumn('body', 'text', (column) => column.notNull())
    .addColumn('status', 'text', (column) =>
      column.notNull().check(sql`status IN ('pending', 'delivered', 'failed', 'dead')`),
    )
    .addColumn('attempts', 'jsonb', (column) => column.notNull().defaultTo(sql`'[]'::jsonb`))
    // Position in the schedule, and when the schedule began: with the first attempt, anew after a re-queue.
    .addColumn('step', 'integer', (column) => column.notNull().defaultTo(0))
    .addColumn('first_attempt_at', 'timestamptz')
    // The epoch for first attempts, so that they come before retries, in the order of seq.
    .addColumn('due_at', 'timestamptz', (column) => column.notNull())
    .addColumn('created_at', 'timestamptz', (column) => column.notNull())
    .addColumn('finished_at', 'timestamptz')
    .addCheckConstraint('webhook_delivery_target', sql`webhook_id IS NOT NULL OR url IS NOT NULL`)
    .execute();
  await sql`CREATE INDEX webhook_delivery_due ON webhook_delivery (webhook_id, due_at, seq)
    WHERE status = 'pending'`.execute(db);
  await db.schema
    .createIndex('webhook_delivery_webhook')
    .on('webhook_delivery')
    .columns(['webhook_id', 'id'])
    .execute();
  await sql`CREATE INDEX webhook_delivery_finished ON webhook_delivery (finished_at)
    WHERE status <> 'pending'`.execute(db);
}

export async function down(db: Kysely<never>): Promise<void> {
  await db.schema.dropTable('webhook_delivery').execute();
}
