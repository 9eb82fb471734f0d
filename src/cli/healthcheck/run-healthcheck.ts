// What `svc healthcheck` does.
import type { Command } from 'commander';
import { Failure, messageOf } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import { commandSettings } from '../load-config.ts';
import { print, type Terminal } from '../terminal.ts';

const ANSWER_WITHIN_MS = 5_000;
/** Of `svc serve` and `svc serve api`. */
const DEFAULT_PORT = 3009;

/** Asks `/readyz`; what it answers goes to stdout. */
export async function runHealthcheck(terminal: Terminal, command: Command): Promise<void> {
  const { json = false } = command.opts<{ json?: boolean }>();
  const { values } = commandSettings(terminal, command, { opsPort: 'OPS_PORT', opsHost: 'OPS_HOST' });
  const { OPS_PORT: opsPort = DEFAULT_PORT, OPS_HOST: opsHost } = values;
  const url = `http://${opsHost.includes(':') ? `[${opsHost}]` : opsHost}:${opsPort}/readyz`;
  let response: Response;
  try {
    response = await fetch(url, { signal: AbortSignal.timeout(ANSWER_WITHIN_MS) });
  } catch (error) {
    throw new Failure({
      code: 'SERVER_UNREACHABLE',
      message: `nothing answers at ${url}: ${messageOf(error instanceof Error && error.cause ? error.cause : error)}`,
      hint: 'see whether svc serve runs here and OPS_PORT is its operator port',
      exit: EXIT.serverUnreachable,
      cause: error,
    });
  }
  const health = await response.text();
  print(terminal, json ? health : response.ok ? 'ready' : `not ready: ${health}`);
  if (!response.ok) process.exitCode = EXIT.failed;
}
