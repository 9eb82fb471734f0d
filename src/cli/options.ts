// Options that mean the same in every command (design: grammar), and how they become settings.
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { SettingName } from '../platform/config/settings.ts';
import { parseDuration } from '../platform/duration.ts';

export const jsonOption = () => new Option('--json', 'print JSON; errors are JSON on stderr');
export const debugOption = () => new Option('--debug', 'print a stack when something fails');
export const quietOption = () => new Option('-q, --quiet', 'print the answer and errors only');
export const configOption = () =>
  new Option('--config <file>', 'file of settings (dotenv form)').env('SVC_CONFIG');
export const dataDirOption = () =>
  new Option('--data-dir <folder>', 'folder of the embedded database').env('SVC_DATA_DIR');
export const yesOption = () => new Option('-y, --yes', 'do it without asking');
export const dryRunOption = () => new Option('-n, --dry-run', 'say what would be done, change nothing');

/** The settings that were given as flags. What the environment gives is read from there, with its own checks. */
export function settingFlags(
  command: Command,
  flags: Partial<Record<string, SettingName>>,
): Partial<Record<SettingName, string>> {
  const found: Partial<Record<SettingName, string>> = {};
  for (const [option, setting] of Object.entries(flags)) {
    const value: unknown = command.getOptionValue(option);
    if (setting !== undefined && typeof value === 'string' && command.getOptionValueSource(option) === 'cli')
      found[setting] = value;
  }
  return found;
}

/** Parses a duration such as 30d into milliseconds, for commander. */
export function durationArgument(text: string): number {
  const value = parseDuration(text);
  if (value === undefined)
    throw new InvalidArgumentError('It takes a duration such as 90s, 15m, 24h or 30d.');
  return value;
}

/** Parses a whole number of at least 1, for commander. */
export function countArgument(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('It takes a whole number of at least 1.');
  return Number(text);
}

/** Parses a whole number, for commander. */
export function numberArgument(text: string): number {
  if (!/^(?:0|[1-9]\d{0,8})$/.test(text)) throw new InvalidArgumentError('It takes a whole number.');
  return Number(text);
}
