// Where pastes are, and which one an argument names.
import type { ServiceHints } from '../api-client.ts';
import type { ServerChoice } from '../server-of.ts';
import { usage } from '../usage.ts';

export const PASTE_SERVER: ServerChoice = {
  fallback: 'http://localhost:3002',
  urlIn: ({ paste }) => paste.url,
};

export const PASTE_HINTS: ServiceHints = {
  service: 'paste',
  variable: 'PASTE_URL',
  byStatus: {
    401: 'give the password with --password, --password-stdin, PASTE_PASSWORD or PASTE_PASSWORD_FILE',
    403: 'give the password with --password, --password-stdin, PASTE_PASSWORD or PASTE_PASSWORD_FILE',
    404: 'see whether the address is right; expired, burned and deleted pastes are gone for good',
    409: 'choose another --id, or leave it out to have one made',
    413: 'a paste holds at most 1 MiB; split the input',
  },
};

export interface NamedPaste {
  pasteId: string;
  /** Set when the argument was a whole address. */
  origin: string | undefined;
}

/** Reads `Xk4pQ7mNz2`, `https://paste.example.org/Xk4pQ7mNz2` or its raw form. */
export function namedPaste(argument: string): NamedPaste {
  const url = URL.canParse(argument) ? new URL(argument) : undefined;
  const pasteId = url ? url.pathname.replace(/^\/(raw\/)?/, '') : argument;
  if (!/^[a-zA-Z0-9_-]{4,32}$/.test(pasteId)) {
    throw usage(`${argument} names no paste`, 'give its id or its address');
  }
  return { pasteId, origin: url?.origin };
}
