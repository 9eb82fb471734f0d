// What `svc config show|check|example` do.
import type { Command } from 'commander';
import { makeConfig } from '../../platform/config/config.ts';
import { settingsExample } from '../../platform/config/example.ts';
import { describeSetting, type SettingName, settingNames } from '../../platform/config/settings.ts';
import { withoutPassword } from '../../platform/database/unavailable.ts';
import { commandSettings } from '../load-config.ts';
import { print, printJson, type Terminal } from '../terminal.ts';

/** Prints every setting with its value and source. */
export function runConfigShow(terminal: Terminal, command: Command): void {
  const { values, sources } = commandSettings(terminal, command);
  const rows = settingNames.map((name) => ({
    name,
    value: shownValue(name, values[name]),
    source: sources[name],
  }));
  if (command.opts<{ json?: boolean }>().json) {
    printJson(
      terminal,
      Object.fromEntries(rows.map(({ name, value, source }) => [name, { value: value ?? null, source }])),
    );
    return;
  }
  const width = Math.max(...rows.map(({ name }) => name.length));
  for (const { name, value, source } of rows) {
    const shown = value ?? `(${describeSetting(name).shownDefault ?? 'not set'})`;
    print(terminal, `${name.padEnd(width)}  ${String(shown)}  [${source}]`);
  }
}

/** Says whether the settings are right; what is wrong is thrown and reported with exit 78. */
export function runConfigCheck(terminal: Terminal, command: Command): void {
  const { values } = commandSettings(terminal, command);
  const config = makeConfig(values, 'serve');
  if (command.opts<{ json?: boolean }>().json) {
    printJson(terminal, { ok: true });
    return;
  }
  print(terminal, 'the configuration is right');
  print(
    terminal,
    `database: ${config.databaseUrl === undefined ? `embedded in ${config.dataDir}` : withoutPassword(config.databaseUrl)}`,
  );
  print(
    terminal,
    `redis: ${config.redisUrl === undefined ? 'in-process' : withoutPassword(config.redisUrl.split(',')[0] ?? '')}`,
  );
}

/** Prints the example file. */
export function runConfigExample(terminal: Terminal): void {
  terminal.stdout.write(settingsExample());
}

function shownValue(name: SettingName, value: unknown): unknown {
  if (value === undefined) return undefined;
  if (!describeSetting(name).secret) return Array.isArray(value) ? value.join(',') : value;
  return name.endsWith('_URL') ? withoutPassword(String(value)) : '***';
}
