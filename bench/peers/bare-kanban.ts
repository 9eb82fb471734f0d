// The bare peer on PostgreSQL: fastify that runs our own statements for reads, the way we run them, and for a change one
// UPDATE by key through the driver; nobody signs in, nothing is checked, nothing is written beside.
import { fastify } from 'fastify';
import pg from 'pg';
import { connectDatabase } from '../../src/platform/database/connect.ts';
import { createLog } from '../../src/platform/log.ts';
import { cardStatement, cardsStatement } from '../../src/services/kanban/cards/cards.ts';

const { DATABASE_URL = '', ACCOUNT_ID = '', PORT } = process.env;
const { database } = connectDatabase({
  target: { url: DATABASE_URL },
  poolSize: 10,
  applicationName: 'bare-kanban',
  log: await createLog({ level: 'silent' }),
});
const pool = new pg.Pool({ connectionString: DATABASE_URL, max: 10 });
const app = fastify();

app.get('/', async () => ({ ok: true }));
app.get<{ Params: { id: string } }>('/cards/:id', async ({ params }) => {
  const { rows } = await cardStatement(ACCOUNT_ID, params.id).execute(database);
  return rows[0];
});
app.get<{ Params: { id: string } }>('/boards/:id/cards', async ({ params }) => {
  const { rows } = await cardsStatement(params.id, { limit: 10_000, withArchived: false }).execute(database);
  return { items: rows, nextCursor: null };
});
app.patch<{ Params: { id: string } }>('/cards/:id/move', async ({ params }) => {
  await pool.query('UPDATE card SET position = $1 WHERE id = $2', [
    `a${Math.random().toString(36).slice(2)}`,
    params.id,
  ]);
  return { ok: true };
});

await app.listen({ host: '127.0.0.1', port: Number(PORT) });
process.once('SIGTERM', () => process.exit(0));
