// Short links, their raw clicks, and what was clicked counted by link, by day and over all links.
import { type Kysely, sql } from 'kysely';

export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('link')
    .addColumn('link_key', 'bigint', (column) => column.generatedAlwaysAsIdentity().primaryKey())
    .addColumn('short_code', sql`text COLLATE "C"`, (column) => column.notNull().unique())
    .addColumn('original_url', 'text', (column) => column.notNull())
    .addColumn('created_at', 'timestamptz', (column) => column.notNull())
    .addColumn('expires_at', 'timestamptz')
    .addColumn('password_hash', 'text')
    // Null for links that were imported: nobody was ever given a token for them.
    .addColumn('delete_token_hash', 'bytea')
    .execute();
  // The purge walks the expired in this order; most links never expire and are not in it.
  await sql`CREATE INDEX link_expiry ON link (expires_at, link_key) WHERE expires_at IS NOT NULL`.execute(db);

  await db.schema
    .createTable('link_day_count')
    .addColumn('day', 'date', (column) => column.primaryKey())
    .addColumn('count', 'bigint', (column) => column.notNull())
    .execute();

  // Raw clicks only grow and are only counted: partitions by month make dropping old ones cost nothing.
  // No foreign key: a link goes at once, a million clicks of it in small batches afterwards.
  await sql`
    CREATE TABLE click (
      link_key bigint NOT NULL,
      clicked_at timestamptz NOT NULL,
      browser text NOT NULL,
      operating_system text NOT NULL,
      device text NOT NULL,
      referrer_host text NOT NULL,
      address_hash text NOT NULL
    ) PARTITION BY RANGE (clicked_at)`.execute(db);
  await sql`CREATE INDEX click_link ON click (link_key)`.execute(db);
  // Takes what no month was made for, so that a clock that is wrong loses no click.
  await sql`CREATE TABLE click_other PARTITION OF click DEFAULT`.execute(db);

  // One row a link, rewritten by each batch that has clicks of it: how often each browser, system, device kind
  // and referrer came. The number of names in a row is bounded, so reading one costs the same however many clicks.
  await db.schema
    .createTable('click_summary')
    .addColumn('link_key', 'bigint', (column) => column.primaryKey())
    .addColumn('clicks', 'bigint', (column) => column.notNull())
    .addColumn('names', 'jsonb', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('click_day')
    .addColumn('link_key', 'bigint', (column) => column.notNull())
    .addColumn('day', 'date', (column) => column.notNull())
    .addColumn('clicks', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('click_day_pkey', ['link_key', 'day'])
    .execute();
  await db.schema
    .createTable('click_name_count')
    .addColumn('dimension', 'text', (column) => column.notNull())
    .addColumn('name', 'text', (column) => column.notNull())
    .addColumn('clicks', 'bigint', (column) => column.notNull())
    .addPrimaryKeyConstraint('click_name_count_pkey', ['dimension', 'name'])
    .execute();
  // Room in each page lets a count be rewritten in place (HOT), without touching an index.
  for (const table of ['click_summary', 'click_day', 'click_name_count']) {
    await sql`ALTER TABLE ${sql.table(table)} SET (fillfactor = 70)`.execute(db);
  }

  // The one row that everybody locks who writes counts or removes a link: so counts are exact without a lock a
  // link. It also holds how far the journal of clicks in Redis has been written down.
  await db.schema
    .createTable('click_ledger')
    .addColumn('only_row', 'boolean', (column) => column.primaryKey().check(sql`only_row`))
    .addColumn('journal_position', 'text', (column) => column.notNull())
    .execute();
  await sql`INSERT INTO click_ledger (only_row, journal_position) VALUES (true, '0-0')`.execute(db);

  // Links that are gone whose raw clicks are still being removed.
  await db.schema
    .createTable('link_removal')
    .addColumn('link_key', 'bigint', (column) => column.primaryKey())
    .addColumn('removed_at', 'timestamptz', (column) => column.notNull())
    .execute();

  // How far the import of a file has come, by the SHA-256 of the file.
  await db.schema
    .createTable('link_import')
    .addColumn('file_hash', 'text', (column) => column.primaryKey())
    .addColumn('rows_done', 'bigint', (column) => column.notNull())
    .addColumn('imported', 'bigint', (column) => column.notNull())
    .addColumn('refused', 'bigint', (column) => column.notNull())
    .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
    .execute();
}

export async function down(db: Kysely<never>): Promise<void> {
  for (const table of [
    'link_import',
    'link_removal',
    'click_ledger',
    'click_name_count',
    'click_day',
    'click_summary',
    'click',
    'link_day_count',
    'link',
  ]) {
    await db.schema.dropTable(table).execute();
  }
}
