// What `svc healthcheck` does.
import { Failure, messageOf } from '../../platform/errors.ts';
import { EXIT } from '../../platform/exit-codes.ts';
import { print, type Terminal } from '../terminal.ts';

const ANSWER_WITHIN_MS = 5_000;

/** Asks `/readyz`; what it answers goes to stdout. */
export async function runHealthcheck(
  terminal: Terminal,
  { opsPort, opsHost, json = false }: { opsPort: string; opsHost: string; json?: boolean },
): Promise<void> {
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
