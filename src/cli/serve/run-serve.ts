// Runs a daemon from its start to its end: platform, schema, servers, scheduler; then, at a signal, the same backwards.
import { setTimeout as pause } from 'node:timers/promises';
import type { Command } from 'commander';
import { migrations } from '../../../migrations/index.ts';
import type { Config, Role } from '../../platform/config/config.ts';
import { migrate, requireCurrentSchema, schemaStatus } from '../../platform/database/migrate.ts';
import { Failure } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import { createLog, type Log } from '../../platform/log.ts';
import { openPlatform, type Platform } from '../../platform/platform.ts';
import { SERVICE_NAMES, type ServerName, type ServiceName, startServers } from '../../server/serve.ts';
import { commandConfig, commandSettings } from '../load-config.ts';
import { print, type Terminal } from '../terminal.ts';
import { usage } from '../usage.ts';
import { VERSION } from '../version.ts';
import { feedWatchdog, notifySystemd } from './notify-systemd.ts';
import { watchForShutdown } from './shutdown.ts';

const FLAGS = {
  host: 'SVC_HOST',
  pastePort: 'PASTE_PORT',
  kanbanPort: 'KANBAN_PORT',
  linksPort: 'LINKS_PORT',
  relayPort: 'RELAY_PORT',
  opsPort: 'OPS_PORT',
} as const;
const RETRY_EVERY_MS = 500;

/** Runs the daemon of a role until a signal or a fault ends it. */
export async function runServe(
  terminal: Terminal,
  command: Command,
  role: Exclude<Role, 'command'>,
): Promise<void> {
  const commandName = role === 'serve' ? 'svc serve' : `svc serve ${role}`;
  if (role !== 'serve') refuseMisplacedFlags(command);
  const config = commandConfig(terminal, command, role, FLAGS);
  const log = await createLog({ level: config.log.level, format: config.log.format });
  const {
    only,
    scheduler = true,
    waitFor = 0,
    shutdownTimeout,
    migrate: migrateFirst = false,
  } = command.opts<ServeFlags>();

  const platform = await openWithin(waitFor, { config, command: commandName, log });
  const shutdown = watchForShutdown(
    platform,
    () => commandSettings(terminal, command, FLAGS).values.LOG_LEVEL,
  );
  try {
    await prepareSchema(platform, migrateFirst);
    platform.metrics.collectProcessMetrics();
    const servers = await startServers({ platform, version: VERSION, servers: serversOf(role, only) });
    const hasJobs = scheduler && (role === 'serve' || role === 'scheduler');
    const jobs = hasJobs ? await startJobs(platform) : undefined;
    announce(terminal, platform, servers.addresses);
    notifySystemd(
      terminal.env,
      ['READY=1', `STATUS=serving ${Object.keys(servers.addresses).join(', ')}`],
      log,
    );
    const stopWatchdog = feedWatchdog(terminal.env, log);

    const reason = await shutdown.requested;
    stopWatchdog();
    notifySystemd(terminal.env, ['STOPPING=1', 'STATUS=finishing what runs'], log);
    log.info({ reason: reason.text }, 'stopping');
    shutdown.enforce(shutdownTimeout);
    await Promise.all([servers.stop(), jobs?.stop(shutdownTimeout * 0.8)]);
    await platform.close();
    log.info('stopped');
    process.exitCode = reason.exit;
    if (reason.failure) throw reason.failure;
  } catch (error) {
    await platform.close();
    throw error;
  } finally {
    shutdown.end();
  }
}

function serversOf(role: Role, only: readonly ServiceName[] = SERVICE_NAMES): ServerName[] {
  if (role === 'scheduler') return [];
  if (role === 'relay') return ['relay'];
  return role === 'serve' && only.includes('kanban') ? [...only, 'relay'] : [...only];
}

/** @throws {Failure} USAGE for flags between `serve` and the name of the daemon, which would otherwise mean nothing */
function refuseMisplacedFlags(command: Command): void {
  const { parent } = command;
  const misplaced = parent?.options.find(
    (option) => parent.getOptionValueSource(option.attributeName()) === 'cli',
  );
  if (!misplaced) return;
  throw usage(
    `${misplaced.long} stands before ${command.name()}, where it would mean nothing`,
    `svc serve ${command.name()} ${misplaced.long} …`,
  );
}

interface ServeFlags {
  only?: ServiceName[];
  scheduler?: boolean;
  waitFor?: number;
  shutdownTimeout: number;
  migrate?: boolean;
}

async function startJobs(platform: Platform) {
  const { startScheduler } = await import('../../jobs/scheduler.ts');
  return startScheduler(platform);
}

async function openWithin(
  waitForMs: number,
  options: { config: Config; command: string; log: Log },
): Promise<Platform> {
  const deadline = performance.now() + waitForMs;
  for (;;) {
    try {
      return await openPlatform(options);
    } catch (error) {
      const canWait =
        error instanceof Failure &&
        (error.exit === EXIT.databaseUnreachable || error.exit === EXIT.serverUnreachable);
      if (!canWait || performance.now() + RETRY_EVERY_MS > deadline) throw error;
      options.log.info({ reason: error.message }, 'waiting');
      await pause(RETRY_EVERY_MS);
    }
  }
}

/** The embedded database is migrated by its owner; PostgreSQL only when asked, since others may be using it. */
async function prepareSchema(platform: Platform, migrateFirst: boolean): Promise<void> {
  const { database, storage, log } = platform;
  if (migrateFirst || storage.embedded) {
    const steps = await migrate(database, migrations, { direction: 'up' });
    if (steps.length > 0) log.info({ migrations: steps.map(({ name }) => name) }, 'migrated');
  }
  requireCurrentSchema(await schemaStatus(database, migrations));
}

function announce(
  terminal: Terminal,
  { config, log }: Platform,
  addresses: Partial<Record<string, string>>,
): void {
  log.info(
    {
      addresses,
      database: config.databaseUrl ? 'PostgreSQL' : `embedded in ${config.dataDir}`,
      redis: config.redisUrl ? 'Redis' : 'in-process',
    },
    'ready',
  );
  if (!terminal.stdout.isTTY) return;
  const lines = [
    ...(addresses.paste ? [`Paste    ${config.paste.url}`] : []),
    ...(addresses.kanban ? [`Kanban   ${config.kanban.url}/api/docs`] : []),
    ...(addresses.links ? [`Links    ${config.links.url}`] : []),
    `Health   ${addresses.ops}/readyz`,
    '',
    ...(addresses.paste ? ['echo hello | svc paste'] : []),
    ...(addresses.links ? ['svc link https://example.com'] : []),
  ];
  print(terminal, `\n${lines.map((line) => (line === '' ? '' : `  ${line}`)).join('\n')}\n`);
}
