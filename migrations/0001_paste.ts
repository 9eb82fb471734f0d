// Pastes, and what was ever created counted by language and by day.
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('paste')
    .addColumn('paste_key', 'bigint', (column) => column.generatedAlwaysAsIdentity().primaryKey())
    .addColumn('paste_id', sql`text COLLATE "C"`, (column) => column.notNull().unique())
    .addColumn('title', 'text')
    .addColumn('content', 'text', (column) => column.notNull())
    .addColumn('language', 'text', (column) => column.notNull())
    .addColumn('created_at', 'timestamptz', (column) => column.notNull())
    .addColumn('expires_at', 'timestamptz', (column) => column.notNull())
    .addColumn('view_count', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('burn_after_read', 'boolean', (column) => column.notNull())
    .addColumn('size_bytes', 'integer', (column) => column.notNull())
    .addColumn('password_hash', 'text')
    .addColumn('delete_token_hash', 'bytea', (column) => column.notNull())
    .execute();
  // Room in each page lets a counted read update its row in place (HOT), without touching an index.
  await sql`ALTER TABLE paste SET (fillfactor = 85)`.execute(db);
  // The purge walks the expired in this order.
  await db.schema.createIndex('paste_expiry').on('paste').columns(['expires_at', 'paste_key']).execute();

  await db.schema
    .createTable('paste_language_count')
    .addColumn('language', 'text', (column) => column.notNull())
    .addColumn('shard', 'smallint', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('paste_language_count_pkey', ['language', 'shard'])
    .execute();
  await db.schema
    .createTable('paste_day_count')
    .addColumn('day', 'date', (column) => column.notNull())
    .addColumn('shard', 'smallint', (column) => column.notNull())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('paste_day_count_pkey', ['day', 'shard'])
    .execute();
  for (const table of ['paste_language_count', 'paste_day_count']) {
    await sql`ALTER TABLE ${sql.table(table)} SET (fillfactor = 50)`.execute(db);
  }
}

export async function down(db: Kysely<never>): Promise<void> {
  for (const table of ['paste_day_count', 'paste_language_count', 'paste']) {
    await db.schema.dropTable(table).execute();
  }
}
