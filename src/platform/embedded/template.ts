// The prepared data directory: initdb takes seconds, so the build runs it once and a first start copies the result.
import {
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { corrupt } from './errors.ts';

const DATABASE_DIRECTORY = 'pgdata';
const VERSION_FILE = 'PG_VERSION';
/** Packages and archives lose empty directories, which PostgreSQL insists on: the template lists them all. */
const DIRECTORY_LIST = 'directories.json';
const TEMPLATE_PATH = join('dist', 'embedded-template');

/** Small log files keep an empty database small; a busy one recycles them. */
const INITDB_ARGUMENTS = ['--wal-segsize=1', '--no-sync'];

/** Nobody makes databases from the templates of PostgreSQL here, and each weighs as much as an empty database. */
const SLIMMING_SQL = [
  "UPDATE pg_database SET datistemplate = false WHERE datname LIKE 'template%'",
  'DROP DATABASE template0',
  'DROP DATABASE template1',
  'VACUUM (FULL, FREEZE)',
  'CHECKPOINT',
];

/**
 * Makes the template, replacing one that is there.
 *
 * @param targetDir e.g. `dist/embedded-template`
 */
export async function prepareTemplate(targetDir: string): Promise<void> {
  const partial = `${targetDir}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(dirname(partial), { recursive: true });
  await initialise(partial);
  writeFileSync(join(partial, DIRECTORY_LIST), JSON.stringify(directoriesOf(partial)));
  rmSync(targetDir, { recursive: true, force: true });
  renameSync(partial, targetDir);
}

/** The template of this installation, or undefined before the first build. */
export function findTemplate(): string | undefined {
  // The package root is three levels above src/platform/embedded, and four above dist/src/platform/embedded.
  const here = dirname(fileURLToPath(import.meta.url));
  return [join(here, '..', '..', '..'), join(here, '..', '..', '..', '..')]
    .map((root) => join(root, TEMPLATE_PATH))
    .find((directory) => existsSync(join(directory, DIRECTORY_LIST)));
}

/**
 * Makes sure that the data directory holds a database, and makes an empty one where it holds none.
 * A crash on the way leaves only `pgdata.partial`, which the next start replaces.
 *
 * @param dataDir directory this process owns
 * @param template what `findTemplate` found; without one initdb runs, for seconds
 * @returns path of the database's files
 * @throws DatabaseCorruptError where they are there, but incomplete
 */
export async function ensureDatabase(dataDir: string, template: string | undefined): Promise<string> {
  const pgdata = join(dataDir, DATABASE_DIRECTORY);
  if (existsSync(pgdata)) {
    if (existsSync(join(pgdata, VERSION_FILE))) return pgdata;
    // PGlite would take it for a new one and write into it.
    throw corrupt(dataDir, `${join(pgdata, VERSION_FILE)} is missing`);
  }
  const partial = `${pgdata}.partial`;
  rmSync(partial, { recursive: true, force: true });
  if (template === undefined) await initialise(partial);
  else copyTemplate(template, partial);
  renameSync(partial, pgdata);
  return pgdata;
}

async function initialise(directory: string): Promise<void> {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const { PGlite } = await import('@electric-sql/pglite');
  const database = await PGlite.create(directory, { initDbStartParams: INITDB_ARGUMENTS });
  for (const statement of SLIMMING_SQL) await database.exec(statement);
  await database.close();
  removeSpareLog(directory);
}

/** PostgreSQL keeps log files ready for later; an empty database needs only the one with its last checkpoint. */
function removeSpareLog(directory: string): void {
  const log = join(directory, 'pg_wal');
  const [needed, ...spare] = readdirSync(log)
    .filter((name) => /^[0-9A-F]{24}$/.test(name))
    .sort();
  if (needed === undefined) return;
  for (const name of spare) rmSync(join(log, name));
}

function directoriesOf(root: string): string[] {
  return readdirSync(root, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
}

function copyTemplate(template: string, target: string): void {
  mkdirSync(target, { mode: 0o700 });
  const directories: string[] = JSON.parse(readFileSync(join(template, DIRECTORY_LIST), 'utf8'));
  for (const directory of directories) mkdirSync(join(target, directory), { mode: 0o700, recursive: true });
  for (const directory of ['', ...directories]) {
    const source = join(template, directory);
    if (!existsSync(source)) continue;
    for (const entry of readdirSync(source, { withFileTypes: true })) {
      if (!entry.isFile() || entry.name === DIRECTORY_LIST) continue;
      copyFileSync(join(source, entry.name), join(target, directory, entry.name), constants.COPYFILE_FICLONE);
    }
  }
}
