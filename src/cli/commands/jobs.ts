// `svc jobs`: what the scheduler runs, running one now, and how past runs ended.
import { Command, Option } from 'commander';
import {
  configOption,
  countArgument,
  dataDirOption,
  debugOption,
  durationArgument,
  jsonOption,
} from '../options.ts';
import type { Terminal } from '../terminal.ts';

const withCommon = (command: Command) =>
  command
    .addOption(jsonOption())
    .addOption(configOption())
    .addOption(dataDirOption())
    .addOption(debugOption());

/** The command and its views. */
export function jobsCommand(terminal: Terminal): Command {
  const jobs = new Command('jobs');
  jobs.addCommand(
    withCommon(new Command('list').description('every job, its schedule (UTC) and its last run'))
      .action(async (_options, command: Command) => {
        const { runJobsList } = await import('../jobs/run-jobs.ts');
        await runJobsList(terminal, command);
      })
      .addHelpText(
        'after',
        '\nExamples:\n  $ svc jobs list\n\nExit status: 0 done, 10 database unreachable.',
      ),
  );
  jobs.addCommand(
    withCommon(
      new Command('run')
        .argument('<job>', 'name of the job')
        .description('run a job now, as the scheduler would'),
    )
      .action(async (name: string, _options, command: Command) => {
        const { runJobsRun } = await import('../jobs/run-jobs.ts');
        await runJobsRun(terminal, command, name);
      })
      .addHelpText(
        'after',
        '\nExamples:\n  $ svc jobs run purge-pastes\n\nExit status: 0 done, 1 the job failed, 2 no such job, 11 it is already running.',
      ),
  );
  jobs.addCommand(
    withCommon(
      new Command('history').argument('[job]', 'name of the job').description('past runs, newest first'),
    )
      .addOption(new Option('--limit <count>', 'at most this many').argParser(countArgument).default(20))
      .addOption(
        new Option('--since <duration>', 'only runs of the last while, such as 7d').argParser(
          durationArgument,
        ),
      )
      .action(async (name: string | undefined, _options, command: Command) => {
        const { runJobsHistory } = await import('../jobs/run-jobs.ts');
        await runJobsHistory(terminal, command, name);
      })
      .addHelpText(
        'after',
        '\nExamples:\n  $ svc jobs history purge-pastes --since 7d\n  $ svc jobs history --json | jq .status\n\nExit status: 0 done, 2 no such job.',
      ),
  );
  return jobs;
}
