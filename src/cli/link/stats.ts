// What `svc link stats` does.
import type { Command } from 'commander';
import { printJson, type Terminal } from '../terminal.ts';
import { drawStatistics, type LinkStatisticsJson } from './draw-statistics.ts';
import { fetchLink } from './get.ts';

const WIDTH_WITHOUT_TERMINAL = 80;

/** Prints the statistics of a link: pictures on a terminal, plain rows elsewhere too. */
export async function runStats(terminal: Terminal, command: Command, address: string): Promise<void> {
  const { json = false, days } = command.optsWithGlobals<{ json?: boolean; days: number }>();
  const statistics = await fetchLink(terminal, command, address, `/stats?days=${days}`);
  if (json) return printJson(terminal, statistics);
  const { stdout, env } = terminal;
  const isColoured = Boolean(env.FORCE_COLOR) || (stdout.isTTY === true && !env.NO_COLOR);
  terminal.stdout.write(
    drawStatistics(statistics as unknown as LinkStatisticsJson, {
      // Some terminals say 0.
      width: stdout.columns || WIDTH_WITHOUT_TERMINAL,
      isColoured,
    }),
  );
}
