// Reads the settings from their four sources (flags, environment, file, defaults) and says where each came from.
import { readFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { codeOf, Failure } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import {
  describeSetting,
  isSettingName,
  type SettingName,
  type Settings,
  settingNames,
  settingsSchema,
} from './settings.ts';

export type SettingSource = 'flag' | 'environment' | 'file' | 'default';

export interface LoadedSettings {
  values: Settings;
  sources: Record<SettingName, SettingSource>;
  /** Things worth a line on stderr that do not stop the start. */
  warnings: string[];
}

export interface SettingsInput {
  flags?: Partial<Record<SettingName, string>>;
  environment?: Record<string, string | undefined>;
  /** Path of a dotenv file, from `--config` or `SVC_CONFIG`. */
  file?: string;
}

/**
 * Loads all settings.
 *
 * @throws {Failure} CONFIG_INVALID (exit 78) that names each setting that is malformed or unknown, its value
 * unless it is secret, and what it takes; CONFIG_UNREADABLE when the file cannot be read
 */
export function loadSettings({ flags = {}, environment = {}, file }: SettingsInput): LoadedSettings {
  const problems: string[] = [];
  const warnings: string[] = [];
  const path = file ?? environment.SVC_CONFIG;
  const layers: Array<[SettingSource, Map<SettingName, string>]> = [
    ['flag', new Map(Object.entries(flags).filter(isSetting))],
    ['environment', fromEnvironment(environment, warnings, problems)],
    ['file', path === undefined ? new Map() : fromFile(path, problems)],
  ];

  const raw: Record<string, string> = {};
  const sources = Object.fromEntries(settingNames.map((name) => [name, 'default'])) as Record<
    SettingName,
    SettingSource
  >;
  for (const name of settingNames) {
    const found = layers.find(([, values]) => values.has(name));
    const value = found?.[1].get(name);
    if (!found || value === undefined) continue;
    sources[name] = found[0];
    raw[name] = value;
  }

  const parsed = settingsSchema.safeParse(raw);
  const malformed = new Set(parsed.error?.issues.map((issue) => String(issue.path[0])));
  for (const name of malformed) {
    if (!isSettingName(name)) continue;
    const { secret, takes } = describeSetting(name);
    const shown = secret ? 'its value (not shown)' : JSON.stringify(raw[name]);
    problems.push(`${name}: ${shown} (from the ${sources[name]}) is not what it takes: ${takes}`);
  }
  if (problems.length > 0 || !parsed.success) throw invalid(problems);
  return { values: parsed.data, sources, warnings };
}

function isSetting(entry: [string, string | undefined]): entry is [SettingName, string] {
  return entry[1] !== undefined;
}

function fromEnvironment(
  environment: Record<string, string | undefined>,
  warnings: string[],
  problems: string[],
): Map<SettingName, string> {
  const found = new Map<SettingName, string>();
  for (const name of settingNames) {
    const value = environment[name];
    if (value !== undefined && value !== '') {
      // Kubernetes and Docker links set `PASTE_PORT=tcp://10.0.0.1:80` for a service called "paste".
      if (name.endsWith('_PORT') && value.startsWith('tcp://')) {
        warnings.push(`${name}=${value} looks set by a container platform and is ignored`);
      } else {
        found.set(name, value);
        continue;
      }
    }
    const filePath = describeSetting(name).secret ? environment[`${name}_FILE`] : undefined;
    if (filePath === undefined || filePath === '') continue;
    readSecretFile(name, filePath, found, problems);
  }
  return found;
}

/** A secret from the file that `<NAME>_FILE` names. */
function readSecretFile(
  name: SettingName,
  filePath: string,
  found: Map<SettingName, string>,
  problems: string[],
): void {
  try {
    found.set(name, readFileSync(filePath, 'utf8').trim());
  } catch (error) {
    problems.push(`${name}_FILE: ${filePath} cannot be read (${codeOf(error) ?? 'unknown reason'})`);
  }
}

function fromFile(path: string, problems: string[]): Map<SettingName, string> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new Failure({
      code: 'CONFIG_UNREADABLE',
      message: `the configuration file ${path} cannot be read: ${codeOf(error) ?? 'unknown reason'}`,
      hint: 'name an existing file with --config or SVC_CONFIG; `svc config example` prints one',
      exit: EXIT.configuration,
      cause: error,
    });
  }
  const found = new Map<SettingName, string>();
  for (const [name, value] of Object.entries(parseEnv(text))) {
    if (value === undefined || value === '') continue;
    const setting = name.replace(/_FILE$/, '');
    if (isSettingName(name)) found.set(name, value);
    else if (isSettingName(setting) && describeSetting(setting).secret) {
      readSecretFile(setting, value, found, problems);
    } else problems.push(`${name}: no such setting (in ${path})`);
  }
  return found;
}

function invalid(problems: string[]): Failure {
  return new Failure({
    code: 'CONFIG_INVALID',
    message:
      problems.length === 1
        ? `the configuration is wrong: ${problems[0]}`
        : `the configuration is wrong:\n  ${problems.join('\n  ')}`,
    hint: '`svc config example` lists every setting with its default',
    exit: EXIT.configuration,
  });
}
