// A process of its own for the tests: opens the database as told, says so in JSON lines, and serves until its end.
import '../../support/short-lived-wasm.ts';
import pg from 'pg';
import { EmbeddedDatabaseError } from '../../../src/platform/embedded/errors.ts';
import { openEmbeddedDatabase } from '../../../src/platform/embedded/open.ts';

const [dataDir = '', mode = '', work = ''] = process.argv.slice(2);

function say(value: unknown): void {
  process.stdout.write(`${JSON.stringify(value)}\n`);
}

/** Inserts rows for ever, each said after it was acknowledged. */
async function insertForEver(pool: pg.Pool): Promise<void> {
  await pool.query('CREATE TABLE IF NOT EXISTS row (id int PRIMARY KEY, body text)');
  for (let id = 1; ; id += 1) {
    await pool.query('INSERT INTO row VALUES ($1, $2)', [id, 'x'.repeat(1000)]);
    say({ acknowledged: id });
  }
}

try {
  const database = await openEmbeddedDatabase({
    dataDir,
    command: `child ${mode}`,
    mode: mode === 'own' ? 'own' : 'share',
  });
  say({ open: true, owner: database.owner, host: database.connection.host });
  const pool = new pg.Pool(database.connection);
  if (work === 'insert') await insertForEver(pool);
  await new Promise((resolve) => process.stdin.once('end', resolve).resume());
  await pool.end();
  await database.close();
  say({ closed: true });
} catch (error) {
  const code = error instanceof EmbeddedDatabaseError ? error.code : 'UNEXPECTED';
  say({ failed: code, message: error instanceof Error ? error.message : String(error) });
}
