// The structured log: one JSON object a line, readable on a terminal, with secrets masked wherever they stand.
import { type DestinationStream, type Logger, pino, stdSerializers } from 'pino';

export type Log = Logger;

export interface LogOptions {
  level: string;
  format?: 'pretty' | 'json' | undefined;
  /** Where lines go; stderr by default, since stdout belongs to answers. */
  destination?: DestinationStream;
}

// Names under which a secret could reach a log line, at the top and one level down.
const SECRET_NAMES = [
  'authorization',
  'cookie',
  '["set-cookie"]',
  '["x-paste-password"]',
  'password',
  'passwordHash',
  'token',
  'deleteToken',
  'secret',
  'authHash',
  'ticket',
  'content',
  'databaseUrl',
  'redisUrl',
];

/** Makes the log of a process. Pretty lines need a terminal or to be asked for; elsewhere JSON. */
export async function createLog({ level, format, destination }: LogOptions): Promise<Log> {
  const pretty = (format ?? (process.stderr.isTTY ? 'pretty' : 'json')) === 'pretty';
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: SECRET_NAMES.flatMap((name) =>
          name.startsWith('[') ? [name, `*${name}`] : [name, `*.${name}`],
        ),
        censor: '[redacted]',
      },
      serializers: { error: serializeError, err: serializeError },
    },
    destination ?? (pretty ? await prettyStream() : pino.destination({ dest: 2, sync: true })),
  );
}

// pg puts the failing row (so: content) into `detail`, and the statement's parameters into `where`.
function serializeError(error: unknown): unknown {
  // A message that was taken out of its error is a text already.
  if (!(error instanceof Error)) return error;
  const { detail, where, parameters, ...rest } = stdSerializers.err(error) as Record<string, unknown>;
  return rest;
}

async function prettyStream(): Promise<DestinationStream> {
  const { default: pretty } = await import('pino-pretty');
  return pretty({
    destination: 2,
    sync: true,
    translateTime: 'SYS:HH:MM:ss',
    ignore: 'requestId',
    colorize: process.stderr.hasColors?.() ?? false,
  });
}
