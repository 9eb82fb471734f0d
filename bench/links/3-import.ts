// Importing 100,000 links on PostgreSQL against a COPY of the same rows into the same table with its indexes. Both are
// timed once they are connected: the import as the command itself says, its start being the same for any file.
import { execFile } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { durablePostgres, SVC, scratchFolder, svc } from '../support/processes.ts';
import { median, remark, report } from '../support/report.ts';

const LINKS = 100_000;
const ROUNDS = 5;
const DAY_MS = 86_400_000;
const FIRST_DAY = Date.UTC(2023, 0, 1);

export async function run(): Promise<void> {
  const postgres = await durablePostgres();
  const scratch = scratchFolder();
  const env = { DATABASE_URL: postgres.url, SVC_DATA_DIR: join(scratch.path, 'data') };
  const database = new pg.Client({ connectionString: postgres.url });
  try {
    await svc(['migrate', 'up'], env);
    await database.connect();
    const [forCopy, forImport] = [join(scratch.path, 'copy.csv'), join(scratch.path, 'import.csv')];
    const rows = Array.from({ length: LINKS }, (_, index) => rowOf(index));
    await writeFile(forCopy, rows.map(({ link }) => `${link}\n`).join(''));
    await writeFile(
      forImport,
      `shortCode,originalUrl,createdAt,expiresAt,clickCount\n${rows.map(({ link, clicks }) => `${link},${clicks}\n`).join('')}`,
    );
    const took: Record<'copy' | 'import' | 'command', number[]> = { copy: [], import: [], command: [] };
    for (let round = 0; round < ROUNDS; round++) {
      took.copy.push((await timed(() => copy(forCopy))).tookMs);
      const { tookMs, result } = await timed(() => importFile(forImport, env));
      took.import.push(result);
      took.command.push(tookMs);
    }
    const [theirs, mine] = [median(took.copy), median(took.import)];
    report({
      name: `importing ${LINKS} links`,
      ratio: theirs / mine,
      limit: { atLeast: 0.2 },
      detail: `${rate(mine)}/s, COPY ${rate(theirs)}/s`,
    });
    remark(
      `COPY ${inSeconds(took.copy)}; import ${inSeconds(took.import)}, with clicks, checks and progress`,
    );
    remark(`the whole command ${inSeconds(took.command)}: ${(theirs / median(took.command)).toFixed(2)} ×`);
  } finally {
    await database.end();
    await postgres.remove();
    scratch.remove();
  }

  async function copy(file: string): Promise<void> {
    await pipeline(
      createReadStream(file, { highWaterMark: 262_144 }),
      database.query(
        copyFrom('COPY link (short_code, original_url, created_at, expires_at) FROM STDIN (FORMAT csv)'),
      ),
    );
  }

  /** Milliseconds of filling the table from empty, after which every link is there. */
  async function timed<T>(fill: () => Promise<T>): Promise<{ tookMs: number; result: T }> {
    await database.query('TRUNCATE link, click_summary, link_day_count, link_import');
    await database.query('CHECKPOINT');
    const startedAt = performance.now();
    const result = await fill();
    const tookMs = performance.now() - startedAt;
    const { rows } = await database.query('SELECT count(*)::int AS count FROM link');
    if (rows[0].count !== LINKS) throw new Error(`${rows[0].count} links are there, ${LINKS} were to be`);
    return { tookMs, result };
  }
}

/** Imports a file; answers the milliseconds that it took by the command's own account. */
async function importFile(file: string, env: Record<string, string>): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [SVC, 'link', 'import', file, '--json'], {
    env: {
      PATH: process.env.PATH ?? '',
      SVC_SECRET: 'a secret that only benchmarks know, 0123456789',
      ...env,
    },
  });
  return Number(JSON.parse(stdout.trim().split('\n').at(-1) ?? '').durationMs);
}

/** Codes in no order, as generated ones are; creations over three years; one in ten expires. */
function rowOf(index: number): { link: string; clicks: number } {
  const code = ((index * 2_654_435_761) % 2 ** 32).toString(36).padStart(7, '0');
  const url = `https://www.example${index % 500}.com/some/long/path/${index}?utm_source=bench&utm_medium=${index % 77}`;
  const createdAt = new Date(FIRST_DAY + (index / LINKS) * 3 * 365 * DAY_MS).toISOString();
  const expiresAt = index % 10 === 0 ? '2030-01-01T00:00:00.000Z' : '';
  return { link: [code, url, createdAt, expiresAt].join(','), clicks: index % 3 === 0 ? 0 : index % 1_000 };
}

function rate(tookMs: number): string {
  return (LINKS / (tookMs / 1000)).toFixed(0);
}

function inSeconds(took: number[]): string {
  return took.map((ms) => `${(ms / 1000).toFixed(2)} s`).join(', ');
}
