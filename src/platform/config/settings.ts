// Every setting: its name, what it takes, its default, one line of help. The one schema behind
// `svc config show|check|example`, the start of every command, and config/svc.env.example.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { z } from 'zod';
import { parseDuration } from '../duration.ts';

interface SettingMeta {
  /** One line of help. */
  help: string;
  /** What a value looks like, for the error message. */
  takes: string;
  /** Group heading in the example file. */
  group: 'Server' | 'Storage' | 'Limits' | 'Retention' | 'Webhooks' | 'Log';
  /** Masked wherever it is shown; may also be given as `<NAME>_FILE`. */
  secret?: boolean;
  /** What stands in the example file when the default is computed. */
  shownDefault?: string;
}

export const settingMeta = z.registry<SettingMeta>();

const PORT = 'a port from 0 to 65535 (0: any free port)';
const COUNT = 'a whole number of at least 0 (0 switches the limit off)';
const DURATION = 'a duration such as 90s, 15m, 24h or 30d';

const wholeNumber = (least: number, most: number) =>
  z
    .string()
    .regex(/^\d{1,15}$/)
    .transform(Number)
    .refine((value) => value >= least && value <= most);

const port = (fallback: number, help: string) =>
  wholeNumber(0, 65_535).default(fallback).register(settingMeta, { help, takes: PORT, group: 'Server' });

const origin = (help: string, portName: string) =>
  z
    .string()
    .refine(isOrigin)
    .transform((value) => value.replace(/\/$/, ''))
    .optional()
    .register(settingMeta, {
      help,
      takes: 'an origin such as https://paste.example.org, without a path',
      group: 'Server',
      shownDefault: `http://localhost:<${portName}>`,
    });

const count = (fallback: number, help: string) =>
  wholeNumber(0, 1_000_000_000)
    .default(fallback)
    .register(settingMeta, { help, takes: COUNT, group: 'Limits' });

const optionalCount = (help: string, shownDefault: string) =>
  wholeNumber(0, 1_000_000_000)
    .optional()
    .register(settingMeta, { help, takes: COUNT, group: 'Limits', shownDefault });

const durationMs = z.string().transform((text, context) => {
  const value = parseDuration(text);
  if (value === undefined) context.addIssue({ code: 'custom', message: DURATION });
  return value ?? 0;
});

const duration = (fallbackText: string, help: string, group: SettingMeta['group']) =>
  durationMs
    .prefault(fallbackText)
    .register(settingMeta, { help, takes: DURATION, group, shownDefault: fallbackText });

export const settingsSchema = z.object({
  SVC_HOST: z.string().min(1).default('127.0.0.1').register(settingMeta, {
    help: 'Address the services listen on.',
    takes: 'an IP address or host name of this machine, such as 0.0.0.0',
    group: 'Server',
  }),
  PASTE_PORT: port(3002, 'Port of the paste service.'),
  PASTE_URL: origin('Public address of the paste service, as people type it.', 'PASTE_PORT'),
  LINKS_PORT: port(3003, 'Port of the link service.'),
  LINKS_URL: origin('Public address of the link service.', 'LINKS_PORT'),
  KANBAN_PORT: port(3000, 'Port of the kanban service.'),
  KANBAN_URL: origin('Public address of the kanban service.', 'KANBAN_PORT'),
  RELAY_PORT: port(3001, 'Port of the WebSocket relay.'),
  RELAY_URL: origin('Public address of the relay.', 'RELAY_PORT'),
  OPS_PORT: wholeNumber(0, 65_535).optional().register(settingMeta, {
    help: 'Port of the operator endpoint: /metrics, /livez, /readyz.',
    takes: PORT,
    group: 'Server',
    shownDefault: '3009 (serve, serve api), 3008 (relay), 3007 (scheduler)',
  }),
  OPS_HOST: z.string().min(1).default('127.0.0.1').register(settingMeta, {
    help: 'Address the operator endpoint listens on.',
    takes: 'an IP address or host name of this machine',
    group: 'Server',
  }),
  TRUST_PROXY: z.string().default('false').transform(parseTrustProxy).register(settingMeta, {
    help: 'Which proxies X-Forwarded-For is believed from.',
    takes: 'false, the number of proxies in front (1), or their addresses (10.0.0.1,192.168.0.0/16)',
    group: 'Server',
  }),
  SVC_DATA_DIR: z.string().min(1).default('./data').register(settingMeta, {
    help: 'Folder of the embedded database and of generated secrets (made with mode 0700).',
    takes: 'a folder',
    group: 'Storage',
  }),
  DATABASE_URL: z
    .string()
    .regex(/^postgres(ql)?:\/\/.+/)
    .optional()
    .register(settingMeta, {
      help: 'PostgreSQL 15 or newer. Without it an embedded database in the data folder is used.',
      takes: 'postgres://user:password@host:5432/database',
      group: 'Storage',
      secret: true,
      shownDefault: 'none: embedded',
    }),
  DATABASE_POOL_SIZE: wholeNumber(1, 1000).default(10).register(settingMeta, {
    help: 'Connections to PostgreSQL of one process.',
    takes: 'a whole number from 1 to 1000',
    group: 'Storage',
  }),
  REDIS_URL: z
    .string()
    .refine((value) => value.split(',').every((part) => /^rediss?:\/\/.+/.test(part.trim())))
    .optional()
    .register(settingMeta, {
      help: 'Redis 7 or Valkey 8; several addresses, with commas, are a cluster. Without it: in-process.',
      takes: 'redis://host:6379 or rediss://host:6379',
      group: 'Storage',
      secret: true,
      shownDefault: 'none: in-process',
    }),
  SVC_SECRET: z.string().min(32).optional().register(settingMeta, {
    help: 'Root of the keys that hash addresses. Needed with DATABASE_URL; else generated once into the data folder.',
    takes: 'at least 32 characters that nobody can guess; `openssl rand -base64 32` makes some',
    group: 'Storage',
    secret: true,
    shownDefault: 'generated into the data folder',
  }),
  RATE_LIMIT_CREATE_PER_HOUR: optionalCount(
    'Pastes and links one address may create in an hour, where a service has no setting of its own.',
    'paste 10, links 20',
  ),
  PASTE_RATE_LIMIT_CREATE_PER_HOUR: optionalCount('Pastes one address may create in an hour.', '10'),
  LINKS_RATE_LIMIT_CREATE_PER_HOUR: optionalCount('Links one address may create in an hour.', '20'),
  LINKS_RATE_LIMIT_UNLOCK_FAILURES: count(10, 'Wrong link passwords one address may send in 5 minutes.'),
  KANBAN_RATE_LIMIT_LOGIN_PER_MINUTE: count(10, 'Logins of one address in a minute.'),
  KANBAN_RATE_LIMIT_REGISTER_PER_HOUR: count(5, 'Registrations of one address in an hour.'),
  KANBAN_RATE_LIMIT_MUTATIONS_PER_MINUTE: count(
    60,
    'Card, column and board changes of one user in a minute.',
  ),
  KANBAN_RATE_LIMIT_READS_PER_MINUTE: count(600, 'Reads of one user in a minute.'),
  KANBAN_RATE_LIMIT_WRITES_PER_MINUTE: count(240, 'Every other write of one user in a minute.'),
  LINKS_KEEP_CLICKS: duration('395d', 'How long raw click rows are kept; their rollups stay.', 'Retention'),
  LINKS_KEEP_EXPIRED: duration('30d', 'How long an expired link still answers its metadata.', 'Retention'),
  ACCOUNT_DELETE_AFTER: duration('30d', 'When the rows of a deleted account go.', 'Retention'),
  WEBHOOK_KEEP_DELIVERED: duration('30d', 'How long delivered webhook deliveries are kept.', 'Retention'),
  ATTACHMENT_MAX_BYTES: wholeNumber(1, 1_073_741_824).default(10_485_760).register(settingMeta, {
    help: 'Largest attachment of a card, in bytes.',
    takes: 'a whole number of bytes',
    group: 'Limits',
  }),
  WEBHOOK_RETRY_SCHEDULE: z
    .string()
    .transform((text) => text.split(',').map((part) => parseDuration(part) ?? Number.NaN))
    .refine((offsets) => offsets.every((offset, index) => offset > (offsets[index - 1] ?? 0)))
    .prefault('30s,2m,10m,1h,6h,24h')
    .register(settingMeta, {
      help: 'When a failed delivery is tried again, counted from the first attempt.',
      takes: 'growing durations with commas, such as 30s,2m,10m',
      group: 'Webhooks',
      shownDefault: '30s,2m,10m,1h,6h,24h',
    }),
  WEBHOOK_TIMEOUT: duration('10s', 'How long one delivery attempt may take as a whole.', 'Webhooks'),
  WEBHOOK_ALLOW_PRIVATE_TARGETS: z
    .enum(['true', 'false'])
    .default('false')
    .transform((value) => value === 'true')
    .register(settingMeta, {
      help: 'Whether webhooks may go to private addresses (tests and closed networks).',
      takes: 'true or false',
      group: 'Webhooks',
    }),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .default('info')
    .register(settingMeta, {
      help: 'Least level that is logged.',
      takes: 'trace, debug, info, warn, error, fatal or silent',
      group: 'Log',
    }),
  LOG_FORMAT: z.enum(['pretty', 'json']).optional().register(settingMeta, {
    help: 'How log lines look.',
    takes: 'pretty or json',
    group: 'Log',
    shownDefault: 'pretty on a terminal, json elsewhere',
  }),
});

export type SettingName = keyof typeof settingsSchema.shape;
export type Settings = z.output<typeof settingsSchema>;

export const settingNames = Object.keys(settingsSchema.shape) as SettingName[];

/** Whether a text names a setting. */
export function isSettingName(name: string): name is SettingName {
  return Object.hasOwn(settingsSchema.shape, name);
}

/** Help, form and group of one setting. */
export function describeSetting(name: SettingName): SettingMeta {
  const meta = settingMeta.get(settingsSchema.shape[name]);
  if (!meta) throw new Error(`setting ${name} has no description`);
  return meta;
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const url = new URL(text);
  return (
    /^https?:$/.test(url.protocol) &&
    url.pathname === '/' &&
    !text.includes('?') &&
    !text.includes('#') &&
    url.username === '' &&
    url.password === ''
  );
}

function parseTrustProxy(text: string, context: z.RefinementCtx<string>): false | number | string[] {
  if (text === 'false' || text === '0') return false;
  if (/^\d{1,2}$/.test(text)) return Number(text);
  const addresses = text.split(',').map((part) => part.trim());
  // `true` would believe a header that any client can write; lessons.md asks for configured proxies only.
  if (
    addresses.every(
      (address) =>
        ['loopback', 'linklocal', 'uniquelocal'].includes(address) ||
        (address.includes('/') ? ipaddr.isValidCIDR(address) : isIP(address) !== 0),
    )
  ) {
    return addresses;
  }
  context.addIssue({ code: 'custom', message: 'not a list of addresses' });
  return false;
}
