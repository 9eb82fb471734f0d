// Settings and configuration for a command, from its flags, the environment and the file.
import type { Command } from 'commander';
import { type Config, makeConfig, type Role } from '../platform/config/config.ts';
import { type LoadedSettings, loadSettings } from '../platform/config/load.ts';
import type { SettingName } from '../platform/config/settings.ts';
import { settingFlags } from './options.ts';
import { note, type Terminal } from './terminal.ts';

const COMMON_FLAGS: Partial<Record<string, SettingName>> = { dataDir: 'SVC_DATA_DIR' };

/** Loads the settings a command was given. Warnings go to stderr. */
export function commandSettings(
  terminal: Terminal,
  command: Command,
  flags: Partial<Record<string, SettingName>> = {},
): LoadedSettings {
  const file: unknown = command.getOptionValue('config');
  const loaded = loadSettings({
    flags: settingFlags(command, { ...COMMON_FLAGS, ...flags }),
    environment: terminal.env,
    ...(typeof file === 'string' && { file }),
  });
  for (const warning of loaded.warnings) note(terminal, `svc: ${warning}`);
  return loaded;
}

/** The configuration of a command. */
export function commandConfig(
  terminal: Terminal,
  command: Command,
  role: Role,
  flags?: Partial<Record<string, SettingName>>,
): Config {
  return makeConfig(commandSettings(terminal, command, flags).values, role);
}
