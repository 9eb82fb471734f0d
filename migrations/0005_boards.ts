// Workspaces, boards and everything on them. What a client encrypted is text that is never looked into. Each row of a
// board names its board, so that access is one join away whatever the row is.
import { type CreateTableBuilder, type Kysely, sql } from 'kysely';

const id = sql`text COLLATE "C"`;
// Fractional positions sort by bytes.
const position = sql`text COLLATE "C"`;

export async function up(db: Kysely<never>): Promise<void> {
  await db.schema
    .createTable('workspace')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('enc_name', 'text', (column) => column.notNull())
    .addColumn('key_epoch', 'integer', (column) => column.notNull())
    .addColumn('rotation_due', 'boolean', (column) => column.notNull().defaultTo(false))
    .addColumn('created_at', 'timestamptz', (column) => column.notNull())
    .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
    .execute();
  await db.schema
    .createTable('workspace_member')
    .addColumn('workspace_id', id, (column) =>
      column.notNull().references('workspace.id').onDelete('cascade'),
    )
    .addColumn('account_id', id, (column) => column.notNull().references('account.id').onDelete('cascade'))
    .addColumn('role', 'text', (column) => column.notNull().check(sql`role IN ('owner', 'admin', 'member')`))
    .addColumn('enc_workspace_key', 'text', (column) => column.notNull())
    .addColumn('joined_at', 'timestamptz', (column) => column.notNull())
    .addPrimaryKeyConstraint('workspace_member_pkey', ['workspace_id', 'account_id'])
    .execute();
  await db.schema
    .createIndex('workspace_member_account')
    .on('workspace_member')
    .column('account_id')
    .execute();

  await db.schema
    .createTable('board')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('workspace_id', id, (column) =>
      column.notNull().references('workspace.id').onDelete('cascade'),
    )
    .addColumn('enc_name', 'text', (column) => column.notNull())
    .addColumn('enc_description', 'text')
    .addColumn('archived', 'boolean', (column) => column.notNull().defaultTo(false))
    // The number of the newest activity; its row is locked by whoever changes anything on the board.
    .addColumn('last_seq', 'bigint', (column) => column.notNull().defaultTo(0))
    .addColumn('created_at', 'timestamptz', (column) => column.notNull())
    .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
    .execute();
  await sql`ALTER TABLE board SET (fillfactor = 50)`.execute(db);
  await db.schema.createIndex('board_workspace').on('board').columns(['workspace_id', 'id']).execute();
  await db.schema
    .createTable('board_key')
    .addColumn('board_id', id, (column) => column.notNull().references('board.id').onDelete('cascade'))
    .addColumn('epoch', 'integer', (column) => column.notNull())
    .addColumn('enc_board_key', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('board_key_pkey', ['board_id', 'epoch'])
    .execute();

  await ofBoard(db.schema.createTable('board_column'))
    .addColumn('enc_name', 'text', (column) => column.notNull())
    .addColumn('position', position, (column) => column.notNull())
    .addColumn('wip_limit', 'integer')
    .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
    .execute();
  await ofBoard(db.schema.createTable('label'))
    .addColumn('enc_name', 'text', (column) => column.notNull())
    .addColumn('color', 'text', (column) => column.notNull())
    .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
    .execute();
  await ofBoard(db.schema.createTable('milestone'))
    .addColumn('enc_name', 'text', (column) => column.notNull())
    .addColumn('due_at', 'timestamptz')
    .addColumn('archived', 'boolean', (column) => column.notNull().defaultTo(false))
    .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
    .execute();
  await ofBoard(db.schema.createTable('card_template'))
    .addColumn('enc_name', 'text', (column) => column.notNull())
    .addColumn('enc_content', 'text', (column) => column.notNull())
    .execute();
  await ofBoard(db.schema.createTable('custom_field'))
    .addColumn('enc_name', 'text', (column) => column.notNull())
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('enc_options', 'text')
    .addColumn('position', position, (column) => column.notNull())
    .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
    .execute();

  await ofBoard(db.schema.createTable('card'))
    .addColumn('column_id', id, (column) =>
      column.notNull().references('board_column.id').onDelete('cascade'),
    )
    .addColumn('enc_title', 'text', (column) => column.notNull())
    .addColumn('enc_description', 'text')
    .addColumn('position', position, (column) => column.notNull())
    .addColumn('start_at', 'timestamptz')
    .addColumn('due_at', 'timestamptz')
    .addColumn('completed', 'boolean', (column) => column.notNull().defaultTo(false))
    .addColumn('archived', 'boolean', (column) => column.notNull().defaultTo(false))
    .addColumn('milestone_id', id, (column) => column.references('milestone.id').onDelete('set null'))
    .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('card_position').on('card').columns(['column_id', 'position']).execute();
  await sql`CREATE INDEX card_milestone ON card (milestone_id) WHERE milestone_id IS NOT NULL`.execute(db);
  await db.schema
    .createTable('card_label')
    .addColumn('card_id', id, (column) => column.notNull().references('card.id').onDelete('cascade'))
    .addColumn('label_id', id, (column) => column.notNull().references('label.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('card_label_pkey', ['card_id', 'label_id'])
    .execute();
  await db.schema.createIndex('card_label_label').on('card_label').column('label_id').execute();
  await db.schema
    .createTable('card_assignee')
    .addColumn('card_id', id, (column) => column.notNull().references('card.id').onDelete('cascade'))
    .addColumn('account_id', id, (column) => column.notNull().references('account.id').onDelete('cascade'))
    .addPrimaryKeyConstraint('card_assignee_pkey', ['card_id', 'account_id'])
    .execute();
  await db.schema.createIndex('card_assignee_account').on('card_assignee').column('account_id').execute();
  await db.schema
    .createTable('card_field_value')
    .addColumn('card_id', id, (column) => column.notNull().references('card.id').onDelete('cascade'))
    .addColumn('field_id', id, (column) => column.notNull().references('custom_field.id').onDelete('cascade'))
    .addColumn('enc_value', 'text', (column) => column.notNull())
    .addPrimaryKeyConstraint('card_field_value_pkey', ['card_id', 'field_id'])
    .execute();
  await db.schema.createIndex('card_field_value_field').on('card_field_value').column('field_id').execute();

  await ofCard(db.schema.createTable('comment'))
    .addColumn('author_id', id, (column) => column.references('account.id').onDelete('set null'))
    .addColumn('enc_body', 'text', (column) => column.notNull())
    .addColumn('mentions', sql`text[]`, (column) => column.notNull())
    .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
    .execute();
  await ofCard(db.schema.createTable('checklist'))
    .addColumn('enc_title', 'text', (column) => column.notNull())
    .addColumn('position', position, (column) => column.notNull())
    .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
    .execute();
  await ofCard(db.schema.createTable('checklist_item'))
    .addColumn('checklist_id', id, (column) =>
      column.notNull().references('checklist.id').onDelete('cascade'),
    )
    .addColumn('enc_text', 'text', (column) => column.notNull())
    .addColumn('done', 'boolean', (column) => column.notNull().defaultTo(false))
    .addColumn('position', position, (column) => column.notNull())
    .addColumn('assignee_id', id, (column) => column.references('account.id').onDelete('set null'))
    .addColumn('due_at', 'timestamptz')
    .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
    .execute();
  await db.schema
    .createIndex('checklist_item_checklist')
    .on('checklist_item')
    .column('checklist_id')
    .execute();
  await ofCard(db.schema.createTable('attachment'))
    .addColumn('uploader_id', id, (column) => column.references('account.id').onDelete('set null'))
    .addColumn('enc_name', 'text', (column) => column.notNull())
    .addColumn('enc_content', 'text', (column) => column.notNull())
    .addColumn('size_bytes', 'bigint', (column) => column.notNull())
    .execute();
  for (const table of ['comment', 'checklist', 'checklist_item', 'attachment']) {
    await db.schema.createIndex(`${table}_card`).on(table).columns(['card_id', 'id']).execute();
  }
  for (const [table, column] of [
    ['comment', 'author_id'],
    ['checklist_item', 'assignee_id'],
    ['attachment', 'uploader_id'],
  ] as const) {
    await sql`CREATE INDEX ${sql.id(`${table}_account`)} ON ${sql.table(table)} (${sql.ref(column)})`.execute(
      db,
    );
  }

  await ofBoard(db.schema.createTable('automation'))
    .addColumn('creator_id', id, (column) => column.references('account.id').onDelete('set null'))
    .addColumn('enc_name', 'text', (column) => column.notNull())
    .addColumn('enabled', 'boolean', (column) => column.notNull())
    .addColumn('trigger', 'jsonb', (column) => column.notNull())
    .addColumn('actions', 'jsonb', (column) => column.notNull())
    .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
    .execute();
  await db.schema.createIndex('automation_creator').on('automation').column('creator_id').execute();
  await ofBoard(db.schema.createTable('webhook'))
    .addColumn('url', 'text', (column) => column.notNull())
    .addColumn('verbs', sql`text[]`, (column) => column.notNull())
    .addColumn('enabled', 'boolean', (column) => column.notNull())
    // Under a key from SVC_SECRET.
    .addColumn('secret', 'bytea', (column) => column.notNull())
    .addColumn('previous_secret', 'bytea')
    .addColumn('previous_secret_until', 'timestamptz')
    .addColumn('updated_at', 'timestamptz', (column) => column.notNull())
    .execute();

  for (const table of [
    'board_column',
    'label',
    'milestone',
    'card_template',
    'custom_field',
    'card',
    'automation',
    'webhook',
  ]) {
    await db.schema.createIndex(`${table}_board`).on(table).columns(['board_id', 'id']).execute();
  }

  await db.schema
    .createTable('activity')
    .addColumn('id', id, (column) => column.notNull())
    .addColumn('board_id', id, (column) => column.notNull().references('board.id').onDelete('cascade'))
    .addColumn('seq', 'bigint', (column) => column.notNull())
    .addColumn('verb', 'text', (column) => column.notNull())
    // Names cards that may be gone: no reference.
    .addColumn('card_id', id)
    .addColumn('actor_id', id, (column) => column.references('account.id').onDelete('set null'))
    .addColumn('timestamp', 'timestamptz', (column) => column.notNull())
    .addColumn('metadata', 'jsonb', (column) => column.notNull())
    .addPrimaryKeyConstraint('activity_pkey', ['board_id', 'seq'])
    .execute();
  await db.schema.createIndex('activity_actor').on('activity').column('actor_id').execute();
  // Who is named by what stays when their account is purged.
  await sql`CREATE INDEX activity_user ON activity ((metadata ->> 'userId')) WHERE metadata ? 'userId'`.execute(
    db,
  );
  await sql`CREATE INDEX comment_mentions ON comment USING gin (mentions)`.execute(db);
  await db.schema
    .createTable('notification')
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('account_id', id, (column) => column.notNull().references('account.id').onDelete('cascade'))
    .addColumn('kind', 'text', (column) => column.notNull())
    .addColumn('board_id', id, (column) => column.notNull().references('board.id').onDelete('cascade'))
    .addColumn('card_id', id, (column) => column.notNull().references('card.id').onDelete('cascade'))
    .addColumn('comment_id', id, (column) => column.references('comment.id').onDelete('cascade'))
    .addColumn('actor_id', id, (column) => column.references('account.id').onDelete('set null'))
    .addColumn('created_at', 'timestamptz', (column) => column.notNull())
    .addColumn('read_at', 'timestamptz')
    .execute();
  await db.schema
    .createIndex('notification_account')
    .on('notification')
    .columns(['account_id', 'id'])
    .execute();
  for (const column of ['board_id', 'card_id', 'comment_id', 'actor_id']) {
    await db.schema.createIndex(`notification_${column}`).on('notification').column(column).execute();
  }
}

function ofBoard(table: CreateTableBuilder<string>): CreateTableBuilder<string, string> {
  return table
    .addColumn('id', id, (column) => column.primaryKey())
    .addColumn('board_id', id, (column) => column.notNull().references('board.id').onDelete('cascade'))
    .addColumn('created_at', 'timestamptz', (column) => column.notNull());
}

function ofCard(table: CreateTableBuilder<string>): CreateTableBuilder<string, string> {
  return ofBoard(table).addColumn('card_id', id, (column) =>
    column.notNull().references('card.id').onDelete('cascade'),
  );
}

export async function down(db: Kysely<never>): Promise<void> {
  for (const table of [
    'notification',
    'activity',
    'webhook',
    'automation',
    'attachment',
    'checklist_item',
    'checklist',
    'comment',
    'card_field_value',
    'card_assignee',
    'card_label',
    'card',
    'custom_field',
    'card_template',
    'milestone',
    'label',
    'board_column',
    'board_key',
    'board',
    'workspace_member',
    'workspace',
  ]) {
    await db.schema.dropTable(table).execute();
  }
}
