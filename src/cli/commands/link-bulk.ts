// `svc link import` and `svc link export`: for operators, straight to the database.
import { Command, Option } from 'commander';
import {
  configOption,
  dataDirOption,
  debugOption,
  dryRunOption,
  jsonOption,
  quietOption,
} from '../options.ts';
import type { Terminal } from '../terminal.ts';

function withDatabase(command: Command): Command {
  return command.addOption(configOption()).addOption(dataDirOption()).addOption(debugOption());
}

/** `svc link import`. */
export function importCommand(terminal: Terminal): Command {
  return withDatabase(
    new Command('import')
      .description('import links from a CSV or JSON file: ours, of YOURLS, of Shlink, of Kutt')
      .argument('<file>', 'file; - reads stdin')
      .addOption(
        new Option(
          '--on-conflict <what>',
          'for a code that leads elsewhere: refuse the row, or make a new code',
        )
          .choices(['refuse', 'rename'])
          .default('refuse'),
      )
      .addOption(
        new Option('--report <file>', 'write every row that was refused or renamed, and why, as CSV'),
      )
      .addOption(new Option('--restart', 'begin at the first row, though some or all of the file was done'))
      .addOption(dryRunOption())
      .addOption(jsonOption())
      .addOption(quietOption()),
  )
    .action(async (file: string, _options, command: Command) => {
      const { runImport } = await import('../link/run-import.ts');
      await runImport(terminal, command, file);
    })
    .addHelpText(
      'after',
      `
The columns, by the names of svc, YOURLS, Shlink or Kutt:
  code         shortCode, keyword, source, address, "Short code"; a row without one gets a generated code
  destination  originalUrl, url, longUrl, target, "Long URL"; by the same rules as when a link is created
  created      createdAt, timestamp, dateCreated (default: now)
  expires      expiresAt, meta.validUntil, expire_in; one that is over is kept: the link has expired
  clicks       clickCount, clicks, visits, hits, visit_count, visitsSummary.total; the total only
  secrets      passwordHash, deleteTokenHash, as svc link export --with-secrets writes them
Other columns are left out, and named. What was protected or banned is refused, not opened.
Times are ISO 8601 with Z or an offset, or 2027-01-31 12:00:00 in UTC. CSV may be separated by , ; or tabs, where quotes
mean nothing and backslashes do, as mysql --batch writes it; JSON may be an array, one object a line, or pages of the
API of Shlink or Kutt. Text is UTF-8.

Rows whose code leads to the same destination already are left as they are. An import that was interrupted goes on
when the same file is given again; its --report is continued. --dry-run writes the report and nothing else.

Examples:
  $ svc link import yourls.csv --dry-run
  $ svc link import shlink.csv --report refused.csv
  $ mysql --batch -e 'SELECT * FROM yourls_url' yourls | svc link import -
  $ svc link export --with-secrets --data-dir old | svc link import - --data-dir new

Exit status: 0 done, 2 usage or unreadable file, 3 rows were refused (now or in an earlier run of the file) or it was
interrupted, 10 database unreachable, 11 another import runs.`,
    );
}

/** `svc link export`. */
export function exportCommand(terminal: Terminal): Command {
  return withDatabase(
    new Command('export')
      .description('export every link as CSV or JSON')
      .argument('[file]', 'new file, for its owner alone (default: stdout)')
      .addOption(
        new Option(
          '--format <format>',
          'csv, or json: one object a line (default: by the ending of the file)',
        ).choices(['csv', 'json']),
      )
      .addOption(new Option('--with-secrets', 'with the hashes of passwords and delete tokens'))
      .addOption(jsonOption())
      .addOption(quietOption()),
  )
    .action(async (file: string | undefined, _options, command: Command) => {
      const { runExport } = await import('../link/run-export.ts');
      await runExport(terminal, command, file);
    })
    .addHelpText(
      'after',
      `
Destinations of links with a password are in it. With secrets, svc link import keeps passwords and delete tokens
working; without, it refuses links that had a password. Values are exact: a spreadsheet may take one that begins
with = + - or @ for a formula, so open the file there as text.

Examples:
  $ svc link export links.csv
  $ svc link export --with-secrets backup.ndjson
  $ svc link export --json | jq -r .originalUrl

Exit status: 0 done, 1 failed, 2 the file is there already, 10 database unreachable, 130/143 interrupted.`,
    );
}
