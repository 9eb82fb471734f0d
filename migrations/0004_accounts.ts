// Accounts of the kanban service, what proves who they are, and what slows guessing down.
import { type Kysely, sql } from 'kysely';

const id = sql`text COLLATE "C"`;

export async function up(db: Kysely<never>): Promise<void> {
  // What a deleted account loses at once may be null: credentials, keys, blobs.
  await db.schema
    .createTable('account')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('email', 'text', (column) => column.notNull().unique())
    .addColumn('salt', 'text')
    .addColumn('auth_hash', 'text')
    .addColumn('public_key', 'text')
    .addColumn('enc_private_key', 'text')
    .addColumn('enc_symmetric_key', 'text')
    .addColumn('enc_recovery_blob', 'text')
    .addColumn('totp_secret', 'bytea')
    .addColumn('totp_enabled', 'boolean', (column) => column.notNull().defaultTo(false))
    .addColumn('totp_last_step', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('created_at', 'timestamptz', (column) => column.notNull())
    .addColumn('deleted_at', 'timestamptz')
    .addColumn('purge_after', 'timestamptz')
    .execute();
  await sql`CREATE INDEX account_purge ON account (purge_after) WHERE purge_after IS NOT NULL`.execute(db);

  await db.schema
    .createTable('session')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('account_id', id, (column) => column.notNull().references('account.id').onDelete('cascade'))
    .addColumn('token_hash', 'bytea', (column) => column.notNull().unique())
    .addColumn('user_agent', 'text')
    .addColumn('created_at', 'timestamptz', (column) => column.notNull())
    .addColumn('last_used_at', 'timestamptz', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('session_account').on('session').column('account_id').execute();

  await db.schema
    .createTable('recovery_code')
    .addColumn('account_id', id, (column) => column.notNull().references('account.id').onDelete('cascade'))
    .addColumn('code_hash', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('recovery_code_pkey', ['account_id', 'code_hash'])
    .execute();

  await db.schema
    .createTable('webauthn_credential')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('account_id', id, (column) => column.notNull().references('account.id').onDelete('cascade'))
    .addColumn('credential_id', 'text', (column) => column.notNull().unique())
    .addColumn('public_key', 'bytea', (column) => column.notNull())
    .addColumn('counter', 'bigint', (column) => column.notNull())
    .addColumn('transports', sql`text[]`, (column) => column.notNull())
    .addColumn('created_at', 'timestamptz', (column) => column.notNull())
    .addColumn('last_used_at', 'timestamptz')
    .execute();
  await db.schema
    .createIndex('webauthn_credential_account')
    .on('webauthn_credential')
    .column('account_id')
    .execute();

  // Addresses that have signed in to an account: nobody else's failures hold them up.
  await db.schema
    .createTable('account_address')
    .addColumn('account_id', id, (column) => column.notNull().references('account.id').onDelete('cascade'))
    .addColumn('address_hash', 'text', (column) => column.notNull())
    .addColumn('signed_in_at', 'timestamptz', (column) => column.notNull())
    .addPrimaryKeyConstraint('account_address_pkey', ['account_id', 'address_hash'])
    .execute();

  // By the keyed hash of an email address, so that addresses without an account are treated alike and not stored.
  // An empty address hash stands for all addresses together.
  await db.schema
    .createTable('login_failure')
    .addColumn('email_hash', 'text', (column) => column.notNull())
    .addColumn('address_hash', 'text', (column) => column.notNull())
    .addColumn('failures', 'integer', (column) => column.notNull())
    .addColumn('failed_at', 'timestamptz', (column) => column.notNull())
    .addColumn('blocked_until', 'timestamptz', (column) => column.notNull())
    .addPrimaryKeyConstraint('login_failure_pkey', ['email_hash', 'address_hash'])
    .execute();
  await db.schema.createIndex('login_failure_age').on('login_failure').column('failed_at').execute();
}

export async function down(db: Kysely<never>): Promise<void> {
  for (const table of [
    'login_failure',
    'account_address',
    'webauthn_credential',
    'recovery_code',
    'session',
    'account',
  ]) {
    await db.schema.dropTable(table).execute();
  }
}
