// `svc help exit-codes`.
import { EXIT_MEANINGS } from '../platform/exit-codes.ts';

/** The table of exit statuses. */
export function exitCodesText(): string {
  const lines = EXIT_MEANINGS.map(([code, meaning]) => `${String(code).padStart(5)}  ${meaning}`);
  return `Exit status of svc:\n${lines.join('\n')}\n`;
}
