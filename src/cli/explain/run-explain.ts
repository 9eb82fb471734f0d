// What `svc explain` knows: each error code of the terminal, why it comes and what helps.
import { Failure } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import { print, type Terminal } from '../terminal.ts';

const EXPLANATIONS: Record<string, string> = {
  ANSWER_NEEDED:
    'A question had to be asked, but stdin or stderr is not a terminal. svc never takes silence for yes: give the flag that answers it.',
  CANNOT_LISTEN:
    'The address or port of a service cannot be had: another process uses it, or this user may not.',
  CONFIG_INVALID:
    'A setting is malformed, unknown, or does not fit another. `svc config example` lists all, `svc config show` says where each value came from.',
  CONFIG_UNREADABLE: 'The file named by --config or SVC_CONFIG cannot be read.',
  DATABASE_TOO_OLD: 'svc needs PostgreSQL 15 or newer.',
  DATABASE_UNREACHABLE:
    'PostgreSQL does not answer, or does not let this user in. `svc serve --wait-for 30s` waits for one that is still starting.',
  DATA_DIR_HELD:
    'Another process owns the data folder. Two owners would destroy it, so the second does not start. Other commands (purge, jobs, migrate status) reach the running owner by themselves.',
  DATABASE_CORRUPT: 'The files of the embedded database are damaged: restore the data folder from a backup.',
  DATABASE_VERSION: 'The embedded database was made by another major version of PostgreSQL.',
  DATABASE_WORKER_DIED:
    'The embedded database ended by itself. What was acknowledged is on disk; start svc serve again.',
  DATA_DIR_DENIED: 'This user may not read and write the data folder.',
  DATA_DIR_FOREIGN:
    'The database in the data folder belongs to another user; run the command as that user, not as root.',
  DATA_DIR_NOT_A_DIRECTORY: 'The data folder is a file.',
  DISK_FULL:
    'The disk of the data folder is full. What was acknowledged is on disk; free space and start again.',
  DONE_IN_PART: 'Some of what was asked for is done; each thing that is not was named.',
  INPUT_INVALID: 'What was read cannot be used: empty, too long, or not text.',
  INPUT_UNREADABLE: 'A file that was named cannot be read.',
  INTERRUPTED: 'The question was left with Ctrl-C; nothing was done.',
  JOB_RUNNING:
    'A job never runs twice at once. The one that runs is named; if its process died, its lock ends within a minute.',
  LEASE_HELD:
    'The same long work is under way in another process. If that process died, its lock ends within a minute.',
  LEASE_LOST: 'The process was paused for more than a minute and another took over its work.',
  MIGRATION_FAILED: 'A migration failed and was rolled back: nothing was changed.',
  MIGRATION_LOCKED: 'Another process is migrating the same database.',
  NO_DATABASE:
    'Commands that administer need a database that is there. A mistyped --data-dir would otherwise look like one with nothing in it.',
  NO_SUCH_ACCOUNT: '`svc accounts list` names every account.',
  NO_SUCH_DELIVERY: '`svc deliveries list` names every delivery that is still kept.',
  NO_SUCH_WEBHOOK: '`svc webhooks list` names every webhook.',
  NO_SUCH_CODE: 'svc explain knows the codes that svc itself prints.',
  NOT_OUR_SERVER:
    'Something answers at that address, but not as this service does: another port, a proxy, or a sign-in page.',
  OUTPUT_FAILED: 'The answer could not be written to where it was sent.',
  NO_SUCH_JOB: '`svc jobs list` names every job.',
  REDIS_UNREACHABLE:
    'Redis does not answer at REDIS_URL. A running server goes on without it, a starting one does not begin so.',
  REFUSED: 'The server understood the request and refused it; what it said is in the message.',
  SCHEMA_BEHIND:
    'The program needs migrations that the database does not have. Run `svc migrate up`, or start with `svc serve --migrate`.',
  SCHEMA_NEWER: 'The database was migrated by a newer program. An older one could damage it, so it refuses.',
  SECRET_DAMAGED: 'The secret file in the data folder is too short to be one.',
  SECRET_UNREADABLE: 'The secret file in the data folder cannot be read or made.',
  SERVER_UNREACHABLE:
    'Nothing answers at the address of the server. Name it with --server, or see whether it runs.',
  USAGE: 'The command line cannot be done as it stands; the line behind Try says what is missing.',
};

/** Explains a code, or lists every one. */
export function runExplain(terminal: Terminal, code: string | undefined): void {
  if (code === undefined) {
    for (const [name, text] of Object.entries(EXPLANATIONS)) print(terminal, `${name}\n  ${text}`);
    return;
  }
  const text = EXPLANATIONS[code.toUpperCase()];
  if (text === undefined) {
    throw new Failure({
      code: 'NO_SUCH_CODE',
      message: `there is nothing to explain about ${code}`,
      hint: 'svc explain lists every code; svc help exit-codes the exit statuses',
      exit: EXIT.usage,
    });
  }
  print(terminal, text);
}
