// The typed, nested configuration that the program uses, made from the flat settings.
import { resolve } from 'node:path';
import { Failure } from '../errors.ts';
import { EXIT } from '../exit-codes.ts';
import type { Settings } from './settings.ts';

/** What a process is: it decides its operator port and whether it may run embedded. */
export type Role = 'serve' | 'api' | 'relay' | 'scheduler' | 'command' | 'migrate';

export interface Origin {
  port: number;
  /** Public address without a trailing slash. */
  url: string;
}

export interface Config {
  role: Role;
  host: string;
  trustProxy: false | number | string[];
  dataDir: string;
  databaseUrl: string | undefined;
  databasePoolSize: number;
  redisUrl: string | undefined;
  secret: string | undefined;
  log: { level: Settings['LOG_LEVEL']; format: 'pretty' | 'json' | undefined };
  ops: { host: string; port: number };
  paste: Origin & { createPerHour: number };
  links: Origin & {
    createPerHour: number;
    unlockFailures: number;
    /** How long raw click rows are kept, in milliseconds. */
    keepClicksMs: number;
    /** How long an expired link still answers its metadata, in milliseconds. */
    keepExpiredMs: number;
  };
  kanban: Origin & {
    loginPerMinute: number;
    registerPerHour: number;
    mutationsPerMinute: number;
    readsPerMinute: number;
    writesPerMinute: number;
    /** When the rows of a deleted account go, in milliseconds after the deletion. */
    deleteAfterMs: number;
    attachmentMaxBytes: number;
  };
  relay: Origin;
  webhooks: {
    /** Whether they may go to private addresses. */
    privateTargets: boolean;
    /** When a failed delivery is tried again, in milliseconds from its first attempt, ascending. */
    retryScheduleMs: number[];
    /** How long an attempt may take as a whole, in milliseconds. */
    timeoutMs: number;
    /** How long what was delivered is kept, in milliseconds. */
    keepDeliveredMs: number;
  };
}

const OPS_PORTS: Record<Role, number> = {
  serve: 3009,
  api: 3009,
  relay: 3008,
  scheduler: 3007,
  command: 0,
  migrate: 0,
};

/**
 * Makes the configuration of a process.
 *
 * @throws {Failure} exit 78, when settings that are fine each do not fit together
 */
export function makeConfig(settings: Settings, role: Role): Config {
  const separateDaemon = role === 'api' || role === 'relay' || role === 'scheduler';
  for (const name of ['DATABASE_URL', 'REDIS_URL'] as const) {
    if (separateDaemon && settings[name] === undefined) {
      throw misfit(
        `svc serve ${role} needs ${name}: separate daemons share one PostgreSQL and one Redis`,
        `set ${name}, or run everything in one process with \`svc serve\``,
      );
    }
  }
  // Migrations hash nothing.
  if (role !== 'migrate' && settings.DATABASE_URL !== undefined && settings.SVC_SECRET === undefined) {
    throw misfit(
      'SVC_SECRET is not set: with DATABASE_URL every process must hash addresses under the same secret',
      'set SVC_SECRET (or SVC_SECRET_FILE) to the output of `openssl rand -base64 32`, the same everywhere',
    );
  }
  return {
    role,
    host: settings.SVC_HOST,
    trustProxy: settings.TRUST_PROXY,
    dataDir: resolve(settings.SVC_DATA_DIR),
    databaseUrl: settings.DATABASE_URL,
    databasePoolSize: settings.DATABASE_POOL_SIZE,
    redisUrl: settings.REDIS_URL,
    secret: settings.SVC_SECRET,
    log: { level: settings.LOG_LEVEL, format: settings.LOG_FORMAT },
    ops: { host: settings.OPS_HOST, port: settings.OPS_PORT ?? OPS_PORTS[role] },
    paste: {
      port: settings.PASTE_PORT,
      url: settings.PASTE_URL ?? `http://localhost:${settings.PASTE_PORT}`,
      createPerHour: settings.PASTE_RATE_LIMIT_CREATE_PER_HOUR ?? settings.RATE_LIMIT_CREATE_PER_HOUR ?? 10,
    },
    links: {
      port: settings.LINKS_PORT,
      url: settings.LINKS_URL ?? `http://localhost:${settings.LINKS_PORT}`,
      createPerHour: settings.LINKS_RATE_LIMIT_CREATE_PER_HOUR ?? settings.RATE_LIMIT_CREATE_PER_HOUR ?? 20,
      unlockFailures: settings.LINKS_RATE_LIMIT_UNLOCK_FAILURES,
      keepClicksMs: settings.LINKS_KEEP_CLICKS,
      keepExpiredMs: settings.LINKS_KEEP_EXPIRED,
    },
    kanban: {
      port: settings.KANBAN_PORT,
      url: settings.KANBAN_URL ?? `http://localhost:${settings.KANBAN_PORT}`,
      loginPerMinute: settings.KANBAN_RATE_LIMIT_LOGIN_PER_MINUTE,
      registerPerHour: settings.KANBAN_RATE_LIMIT_REGISTER_PER_HOUR,
      mutationsPerMinute: settings.KANBAN_RATE_LIMIT_MUTATIONS_PER_MINUTE,
      readsPerMinute: settings.KANBAN_RATE_LIMIT_READS_PER_MINUTE,
      writesPerMinute: settings.KANBAN_RATE_LIMIT_WRITES_PER_MINUTE,
      deleteAfterMs: settings.ACCOUNT_DELETE_AFTER,
      attachmentMaxBytes: settings.ATTACHMENT_MAX_BYTES,
    },
    relay: {
      port: settings.RELAY_PORT,
      url: settings.RELAY_URL ?? `http://localhost:${settings.RELAY_PORT}`,
    },
    webhooks: {
      privateTargets: settings.WEBHOOK_ALLOW_PRIVATE_TARGETS,
      retryScheduleMs: settings.WEBHOOK_RETRY_SCHEDULE,
      timeoutMs: settings.WEBHOOK_TIMEOUT,
      keepDeliveredMs: settings.WEBHOOK_KEEP_DELIVERED,
    },
  };
}

function misfit(message: string, hint: string): Failure {
  return new Failure({ code: 'CONFIG_INVALID', message, hint, exit: EXIT.configuration });
}
