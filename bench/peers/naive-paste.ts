// The naive peer on PostgreSQL: bare fastify, one UPDATE … RETURNING a read, one INSERT a creation.
import { createHash, randomBytes } from 'node:crypto';
import { fastify } from 'fastify';
import pg from 'pg';

const pool = new pg.Pool({ connectionString: process.env.DATABASE_URL, max: 10 });
const app = fastify();

app.get('/', async () => ({ ok: true }));

app.get<{ Params: { id: string } }>('/api/pastes/:id', async (request, reply) => {
  const { rows } = await pool.query(
    `UPDATE paste SET view_count = view_count + 1 WHERE paste_id = $1 AND expires_at > now()
     RETURNING paste_id AS "pasteId", title, content, language, created_at AS "createdAt", expires_at AS "expiresAt",
       view_count AS "viewCount", burn_after_read AS "burnAfterRead", size_bytes AS "sizeBytes"`,
    [request.params.id],
  );
  return rows[0] ?? reply.code(404).send({ error: 'not found' });
});

app.post<{ Body: { content: string; language: string } }>('/api/pastes', async (request, reply) => {
  const { content, language } = request.body;
  const pasteId = randomBytes(8).toString('base64url').slice(0, 10);
  const token = randomBytes(32).toString('base64url');
  await pool.query(
    `INSERT INTO paste (paste_id, title, content, language, created_at, expires_at, burn_after_read, size_bytes,
       password_hash, delete_token_hash) VALUES ($1, NULL, $2, $3, now(), now() + interval '7 days', false, $4, NULL, $5)`,
    [pasteId, content, language, Buffer.byteLength(content), createHash('sha256').update(token).digest()],
  );
  return reply.code(201).send({ pasteId, deleteToken: token });
});

await app.listen({ host: '127.0.0.1', port: Number(process.env.PORT) });
process.once('SIGTERM', () => process.exit(0));
